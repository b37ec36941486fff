package seal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRulesAgreeWithGit seals trees and compares with what git itself would add.
func TestRulesAgreeWithGit(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]tree{
		"none": {"a": "", "d/b": ""},
		"levels": {
			".gitignore": "*.log\nbuild/\n/top\nnode_modules\n!keep.log\n# note\n\\#hash\n\\!bang\nspace\\ \n",
			"a.log":      "", "keep.log": "", "build": "a file", "sub/build/x": "", "top": "", "sub/top": "",
			"node_modules/p/i.js": "", "sub/node_modules": "", "#hash": "", "!bang": "", "space ": "",
			"sub/.gitignore": "!a.log\n/only-here\n", "sub/a.log": "", "sub/only-here": "", "sub/d/only-here": "",
			"link-build": "-> build", "sub2/build": "-> ../build",
		},
		"a directory holds no rules": {".gitignore": "x\n", "d/.gitignore/y": "", "d/x": "", "d/y": ""},
		"all but directories":        {".gitignore": "*\n!*/\n!*.go\n", "a": "", "a.go": "", "d/b": "", "d/b.go": "", "d.go/e": ""},
		"brackets and case":          {".gitignore": "[a-c]x/\n*.PYC\nq?/\n[[:digit:]]*\n", "ax/f": "", "bx": "", "s.pyc": "", "s.PYC": "", "q1/f": "", "q2": "", "7f": ""},
		"everything":                 {".gitignore": "*\n", "a": "", "d/b": ""},
		"but one":                    {".gitignore": "/*\n!/d\n/d/*\n!/d/keep\n", "a": "", "d/b": "", "d/keep": ""},
		"deep only":                  {"a/b/c/.gitignore": "x\n", "a/x": "", "a/b/x": "", "a/b/c/x": "", "a/b/c/d/x": "", "z/x": ""},
		"sibling rules":              {"a/.gitignore": "x\n", "a/x": "", "b/x": "", "b/.gitignore": "y\n", "b/y": "", "a/y": ""},
		"odd names":                  {".gitignore": "new*line\n\xff*\n-x\n:y\n", "new\nline": "", "\xff\xfe": "", "-x": "", ":y": "", ":z": ""},
		"double star":                {".gitignore": "**/t/*.o\na/**/z\n", "t/a.o": "", "q/t/b.o": "", "a/z": "", "a/b/c/z": "", "b/z": ""},
		"crlf and none":              {".gitignore": "x\r\ny", "x": "", "y": "", "x\r": ""},
		"a link holds no rules":      {".gitignore": "-> rules", "rules": "a\n", "a": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, content, Limits{})
			got := slices.Sorted(maps.Keys(r.back(r.seal().Commit)))

			r.author("", "init", "-q")
			r.author("", "add", "-A")
			out, err := exec.Command("git", "-C", r.workspace, "ls-files", "-z").Output()
			check(t, err)
			want := strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
			slices.Sort(want)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error("paths (-git +seal):\n" + diff)
			}
		})
	}
}

func TestIgnoredIsCountedNotWalked(t *testing.T) {
	t.Parallel()
	content := tree{".gitignore": "node_modules/\n", "a": ""}
	for i := range 100 {
		content[fmt.Sprintf("node_modules/p%d/index.js", i)] = ""
	}
	r := newRig(t, content, Limits{Entries: 10})
	s := r.seal()
	if s.Files != 2 || s.Ignored != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAuthorsOwnExcludesDoNotCount(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "", "b": ""}, Limits{})
	r.author("", "init", "-q")
	tree{"info/exclude": "a\n"}.make(t, filepath.Join(r.workspace, ".git"))
	r.author("", "config", "core.excludesFile", filepath.Join(r.workspace, "b"))
	if s := r.seal(); s.Files != 2 || s.Ignored != 0 {
		t.Errorf("%+v", s)
	}
}

func TestHostileRules(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	check(t, os.WriteFile(outside, []byte("a\n"), 0o600))
	for name, c := range map[string]struct {
		rules string
		files int
		why   string
	}{
		"FIFO":             {"fifo:", 1, "a FIFO"},
		"socket":           {"socket:", 1, "a socket"},
		"link outside":     {"-> " + outside, 2, ""},
		"link to a FIFO":   {"-> pipe", 2, ""},
		"link to a device": {"-> /dev/zero", 2, ""},
		"loop":             {"-> .gitignore", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tree{"a": "", ".gitignore": c.rules}, Limits{})
			s := r.seal()
			if s.Files != c.files || s.Ignored != 0 || s.why(".gitignore") != c.why {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestRulesTooLarge(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"sub/.gitignore": strings.Repeat("pattern\n", 10<<20/8)}, Limits{})
	_, err := r.try()
	limit, ok := errors.AsType[*LimitError](err)
	if !ok || limit.Cause != "sub/.gitignore has 10 MiB, more than the 64 KiB that rules may have" {
		t.Errorf("%v", err)
	}
}

// TestRulesTooSlow: git tries every way to spread the directories of a path over
// the stars, which for these would take it years.
func TestRulesTooSlow(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{
		".gitignore":                   strings.Repeat("**/", 12) + "b/c\n",
		strings.Repeat("a/", 60) + "a": "",
	}, Limits{RulesTime: time.Second})
	_, err := r.try()
	limit, ok := errors.AsType[*LimitError](err)
	if !ok || !strings.Contains(limit.Cause, "takes longer than 1s") {
		t.Errorf("%v", err)
	}
	check(t, os.Remove(filepath.Join(r.workspace, ".gitignore")))
	r.seal()
}

// TestManyQuestions: more in one directory than any pipe holds, both ways.
func TestManyQuestions(t *testing.T) {
	t.Parallel()
	content := tree{".gitignore": "*7\n"}
	for i := range 5000 {
		content[fmt.Sprintf("%0200d", i)] = ""
	}
	r := newRig(t, content, Limits{})
	if s := r.seal(); s.Files != 4501 || s.Ignored != 500 {
		t.Errorf("%+v", s)
	}
}
