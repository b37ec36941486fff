package seal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 255)
	content := tree{
		"empty":                    "",
		"run.sh":                   "exec:#!/bin/sh\n",
		"dir/deep/er/file":         "x\r\ny\x00\xff",
		"large":                    strings.Repeat("0123456789abcdef", 200_000),
		"new\nline":                "1",
		`quote"back\slash`:         "2",
		"\xff\xfe not UTF-8":       "3",
		"-rf":                      "4",
		":(exclude)magic":          "5",
		"*.glob":                   "6",
		" space ":                  "7",
		"tab\tname":                "8",
		long + "/" + long:          "9",
		"git~1":                    "10",
		"dir/.gitignore/not-rules": "11",
		"link":                     "-> dir/deep",
		"dangling":                 "-> no/such",
		"absolute":                 "-> /etc/passwd",
		"loop":                     "-> loop",
		"up":                       "-> ../../..",
		"ä/ö":                      "12",
		".gitattributes":           "* text eol=crlf ident export-ignore\n",
		"ident.txt":                "$Id$\n",
		"sub/.gitmodules":          "[submodule \"x\"]\n",
	}
	r := newRig(t, content, Limits{})
	s := r.seal()
	if diff := cmp.Diff(content, r.back(s.Commit)); diff != "" {
		t.Error("the tree that came back (-sealed +back):\n" + diff)
	}
	if s.Files != len(content) || len(s.LeftOut) != 0 || s.Parent != "" {
		t.Errorf("%+v", s)
	}
	r.operator("fsck", "--full")
}

func TestChain(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1", "b": "1"}, Limits{})
	first := r.seal()
	check(t, os.WriteFile(filepath.Join(r.workspace, "a"), []byte("2"), 0o644))
	check(t, os.Remove(filepath.Join(r.workspace, "b")))
	second := r.seal()
	third := r.seal()
	if second.Parent != first.Commit || third.Parent != second.Commit {
		t.Errorf("chain %v, %v, %v", first, second, third)
	}
	if got := r.operator("rev-parse", "HEAD"); got != third.Commit {
		t.Errorf("HEAD = %s, want %s", got, third.Commit)
	}
	if got := r.operator("diff", "--name-status", first.Commit, third.Commit); got != "M\ta\nD\tb" {
		t.Errorf("diff %q", got)
	}
	if got := r.operator("log", "-1", "--format=%an %ae %at %cn %s", "seals"); got != "Outerloop outerloop@localhost 1700000000 Outerloop sleep 1" {
		t.Errorf("log %q", got)
	}
	if diff := cmp.Diff(tree{"a": "1", "b": "1"}, r.back(first.Commit)); diff != "" {
		t.Error("the first seal after two more:\n" + diff)
	}
}

func TestEmptyWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"no-file/": ""}, Limits{})
	s := r.seal()
	if got := r.back(s.Commit); len(got) != 0 || s.Files != 0 {
		t.Errorf("%+v, %v", s, got)
	}
}
