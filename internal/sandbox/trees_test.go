package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// access reports, for each path, "w" when a file can be made in it, "r" when it
// can be listed only, and "-" when it is not there.
func (b *box) access(t *testing.T, paths ...string) string {
	t.Helper()
	var script strings.Builder
	for _, path := range paths {
		script.WriteString("if touch '" + path + "/.probe' 2>/dev/null; then printf w; " +
			"elif ls '" + path + "' >/dev/null 2>&1; then printf r; else printf -- -; fi\n")
	}
	return b.run(t, sandbox.Bwrap, script.String())
}

func TestTrees(t *testing.T) {
	needBwrap(t)
	t.Run("plain", func(t *testing.T) {
		b := newBox(t)
		data := mkdir(t, t.TempDir(), "data")
		b.Read = []string{data}
		if got := b.access(t, b.Workspace, b.Home, b.Verbs, data, "/tmp"); got != "wwrrw" {
			t.Errorf("access %s, want wwrrw", got)
		}
	})
	t.Run("read tree around everything", func(t *testing.T) {
		b := newBox(t)
		b.Read = []string{filepath.Dir(b.Workspace)}
		if got := b.access(t, b.Workspace, b.Home, b.Verbs, b.Read[0]); got != "wwrr" {
			t.Errorf("access %s, want wwrr", got)
		}
	})
	t.Run("read tree is the workspace", func(t *testing.T) {
		b := newBox(t)
		b.Read = []string{b.Workspace, b.Verbs}
		if got := b.access(t, b.Workspace, b.Verbs); got != "wr" {
			t.Errorf("access %s, want wr", got)
		}
	})
	t.Run("read tree in the workspace", func(t *testing.T) {
		b := newBox(t)
		secret := mkdir(t, t.TempDir(), "secret")
		write(t, filepath.Join(secret, "key"), "secret")
		link := filepath.Join(b.Workspace, "data")
		if err := os.Symlink(secret, link); err != nil {
			t.Fatal(err)
		}
		b.Read = []string{link}
		if got := b.run(t, sandbox.Bwrap, "cat data/key; true"); got != "" {
			t.Errorf("a link in the workspace led out of it: %q", got)
		}
		if got := b.access(t, b.Workspace); got != "w" {
			t.Errorf("access %s, want w", got)
		}
	})
	t.Run("writes arrive", func(t *testing.T) {
		b := newBox(t)
		b.Temp = mkdir(t, t.TempDir(), "temp")
		b.run(t, sandbox.Bwrap, "echo 1 >x; echo 2 >~/x; echo 3 >/tmp/x")
		for path, want := range map[string]string{b.Workspace: "1\n", b.Home: "2\n", b.Temp: "3\n"} {
			if got := read(t, filepath.Join(path, "x")); got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	})
	t.Run("GPUs, also where there are none", func(t *testing.T) {
		b := newBox(t)
		b.GPUs = true
		b.run(t, sandbox.Bwrap, "test -c /dev/null")
	})
	t.Run("a program of the verbs' directory is found", func(t *testing.T) {
		b := newBox(t)
		write(t, filepath.Join(b.Verbs, "syscall-test"), "#!/bin/sh\necho verb\n")
		if got := b.run(t, sandbox.Bwrap, "syscall-test"); got != "verb\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestSpecRefused(t *testing.T) {
	dir := t.TempDir()
	inside := mkdir(t, dir, "workspace", "inside")
	cases := map[string]func(*box){
		"no workspace":   func(b *box) { b.Workspace = "" },
		"absolute":       func(b *box) { b.Read = []string{"data"} },
		"clean":          func(b *box) { b.Read = []string{dir + "/../x"} },
		"given whole":    func(b *box) { b.Read = []string{"/"} },
		"no such file":   func(b *box) { b.Read = []string{dir + "/missing"} },
		"KEY=value":      func(b *box) { b.Env = []string{"PATH"} },
		"Spec.Shim":      func(b *box) { b.Shim = nil },
		"become /tmp":    func(b *box) { b.Temp = filepath.Dir(b.Workspace) },
		"verbs":          func(b *box) { b.Verbs = b.Workspace },
		"inside " + dir:  func(b *box) { b.Workspace, b.Home = filepath.Dir(inside), inside },
		"lies inside ":   func(b *box) { b.Workspace, b.Home = inside, filepath.Dir(inside) },
		"which the sess": func(b *box) { b.Workspace, b.Verbs = filepath.Dir(inside), inside },
	}
	for want, breakIt := range cases {
		b := newBox(t)
		breakIt(b)
		_, err := sandbox.Bwrap.Command(b.Spec, []string{"true"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	if _, err := sandbox.Kind("docker").Command(newBox(t).Spec, []string{"true"}); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

// TestSetupError: a mount that fails is no result of the command, although
// bwrap exits with 1 as the command might have.
func TestSetupError(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	gone := mkdir(t, t.TempDir(), "gone")
	b.Read = []string{gone}
	cmd, err := sandbox.Bwrap.Command(b.Spec, []string{"sh", "-c", "exit 1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	_, err = cmd.Run(t.Context(), sandbox.Stdio{Err: create(t, b.err)}, sandbox.Limits{})
	if !errors.Is(err, sandbox.ErrSetup) {
		t.Errorf("got error %v, want ErrSetup", err)
	}
	if got := read(t, b.err); !strings.Contains(got, gone) {
		t.Errorf("bwrap's words are lost: %q", got)
	}
}
