package seal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNothingOfTheWorkspaceRuns arms everything that makes git run a program,
// in the workspace's repository and in one nested in it.
func TestNothingOfTheWorkspaceRuns(t *testing.T) {
	t.Parallel()
	content := tree{
		"file":           "a\r\n",
		".gitattributes": "* filter=evil text eol=lf diff=evil merge=evil\n",
		"nested/file":    "b",
	}
	r := newRig(t, content, Limits{})
	command, silent := r.canary()
	for _, dir := range []string{"", "nested"} {
		r.author(dir, "init", "-q")
		for _, hook := range []string{
			"pre-commit", "post-commit", "post-index-change", "reference-transaction",
			"post-checkout", "post-update", "pre-auto-gc", "fsmonitor-watchman", "proc-receive", "update",
		} {
			tree{hook: "exec:#!/bin/sh\n" + command + "\n"}.make(t, filepath.Join(r.workspace, dir, ".git/hooks"))
		}
		for _, key := range []string{
			"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
			"diff.evil.textconv", "diff.external", "core.pager", "core.editor", "core.sshCommand", "credential.helper",
		} {
			r.author(dir, "config", key, command)
		}
		for _, verb := range []string{"check-ignore", "fast-import", "cat-file", "ls-tree", "for-each-ref"} {
			r.author(dir, "config", "alias."+verb, "!"+command)
		}
	}
	s := r.seal()
	if diff := cmp.Diff(content, r.back(s.Commit)); diff != "" {
		t.Error(diff)
	}
	silent()
}

// TestKernelEnvironmentIsNotUsed: the kernel may itself have been started by a
// hook, which gets GIT_DIR, or by a person with settings of their own.
func TestKernelEnvironmentIsNotUsed(t *testing.T) {
	r := newRig(t, tree{"a": "a\r\n", ".gitattributes": "* text\n"}, Limits{})
	command, silent := r.canary()
	for key, value := range map[string]string{
		"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent",
		"GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_NAMESPACE": "n", "GIT_LITERAL_PATHSPECS": "1",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": command,
		"GIT_CONFIG_PARAMETERS": "'core.bare'='broken", "GIT_TEMPLATE_DIR": "/nonexistent", "GIT_DEFAULT_HASH": "sha256",
		"GIT_TRACE": filepath.Join(r.base, "canary"),
	} {
		t.Setenv(key, value)
	}
	r.store = must(Open(t.Context(), filepath.Join(r.base, "other.git"), Limits{}, r.store.log))(t)
	s := r.seal()
	if diff := cmp.Diff(tree{"a": "a\r\n", ".gitattributes": "* text\n"}, r.back(s.Commit)); diff != "" {
		t.Error(diff)
	}
	silent()
}

func TestNestedRepositoriesAreFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1", "without/b": "2", "with/c": "3", "linked/.git": "gitdir: /etc\n", "linked/d": "4"}, Limits{})
	r.author("without", "init", "-q")
	r.author("with", "init", "-q")
	r.author("with", "add", "-A")
	r.author("with", "commit", "-qm", "x")
	r.author("", "init", "-q")
	r.author("", "-c", "protocol.file.allow=always", "submodule", "add", "-q", filepath.Join(r.workspace, "with"), "module")
	s := r.seal()
	got := r.back(s.Commit)
	delete(got, ".gitmodules")
	if diff := cmp.Diff(tree{"a": "1", "without/b": "2", "with/c": "3", "linked/d": "4", "module/c": "3"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{
		".gitignore":              "quiet-*\n",
		"a":                       "",
		".outerloop/syscall.json": "{}",
		".autoresearch/x":         "",
		"sub/.outerloop/kept":     "",
		"pipe":                    "fifo:",
		"sock":                    "socket:",
		"quiet-pipe":              "fifo:",
		".GIT/config":             "",
		"sub/.Git":                "",
		".gitmodules":             "-> a",
		"sub/.GITMODULES":         "-> a",
		"sub/pipe":                "fifo:",
	}, Limits{})
	s := r.seal()
	want := []LeftOut{
		{".GIT", "git reserves the name"},
		{".gitmodules", "git takes no link of that name"},
		{"pipe", "a FIFO"},
		{"sock", "a socket"},
		{"sub/.GITMODULES", "git takes no link of that name"},
		{"sub/.Git", "git reserves the name"},
		{"sub/pipe", "a FIFO"},
	}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" {
		t.Error(diff)
	}
	if got := s.LeftOut[0].String(); got != ".GIT: git reserves the name" {
		t.Error(got)
	}
	if diff := cmp.Diff(tree{".gitignore": "quiet-*\n", "a": "", "sub/.outerloop/kept": ""}, r.back(s.Commit)); diff != "" {
		t.Error(diff)
	}
}

func TestLeftOutIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, Limits{})
	for i := range 150 {
		tree{strings.Repeat("p", i+1): "fifo:"}.make(t, r.workspace)
	}
	if s := r.seal(); len(s.LeftOut) != 100 || s.LeftOutMore != 50 {
		t.Errorf("%d and %d", len(s.LeftOut), s.LeftOutMore)
	}
}

// TestLinksAreNotFollowed: neither to a file nor to a directory outside.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tree{"secret": "x", "d/secret": "x"}.make(t, outside)
	content := tree{"file": "-> " + outside + "/secret", "dir": "-> " + outside + "/d", "self": "-> .", "up/up": "-> .."}
	r := newRig(t, content, Limits{})
	if diff := cmp.Diff(content, r.back(r.seal().Commit)); diff != "" {
		t.Error(diff)
	}
}

// TestUnreadable runs itself again as a user for whom permissions hold, if this
// one is root.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		// A temporary directory of the test's is closed to other users.
		base := must(os.MkdirTemp("", "seal-unreadable-*"))(t)
		t.Cleanup(func() { os.RemoveAll(base) })
		check(t, os.Chown(base, 65534, 65534))
		program := filepath.Join(base, "seal.test")
		check(t, os.WriteFile(program, must(os.ReadFile(must(os.Executable())(t)))(t), 0o755))
		cmd := exec.Command(program, "-test.run=^TestUnreadable$", "-test.v")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + base, "HOME=" + base}
		cmd.Dir = base
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestUnreadable") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	r := newRig(t, tree{"a": "", "file": "x", "dir/x": "", ".gitignore": "a\n"}, Limits{})
	for _, name := range []string{"file", "dir", ".gitignore"} {
		check(t, os.Chmod(filepath.Join(r.workspace, name), 0))
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(r.workspace, "dir"), 0o755) })
	s := r.seal()
	want := []LeftOut{{"dir/", "permission denied"}, {".gitignore", "permission denied"}, {"file", "permission denied"}}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" || s.Files != 1 {
		t.Error(s, diff)
	}
}
