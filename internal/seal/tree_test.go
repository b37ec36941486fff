package seal

import (
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// tree describes a directory: path to content, where the key's end or the
// content's beginning says what it is. "dir/" is a directory; "-> x" is a link
// to x; "fifo:" a FIFO; "socket:" a socket; "exec:text" an executable file.
type tree map[string]string

func (tr tree) make(t testing.TB, root string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(tr)) {
		content, path := tr[name], filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, link := strings.CutPrefix(content, "-> ")
		text, exec := strings.CutPrefix(content, "exec:")
		switch {
		case strings.HasSuffix(name, "/"):
			check(t, os.MkdirAll(path, 0o755))
		case link:
			check(t, os.Symlink(target, path))
		case exec:
			check(t, os.WriteFile(path, []byte(text), 0o755))
		case content == "fifo:":
			check(t, syscall.Mkfifo(path, 0o644))
		case content == "socket:":
			l, err := net.Listen("unix", path)
			check(t, err)
			t.Cleanup(func() { l.Close() })
		default:
			check(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

// readTree is the inverse, for files and links only.
func readTree(t testing.TB, root string) tree {
	t.Helper()
	tr := tree{}
	check(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, info := strings.TrimPrefix(path, root+"/"), must(e.Info())(t)
		switch info.Mode() {
		case 0o644:
			tr[name] = string(must(os.ReadFile(path))(t))
		case 0o755:
			tr[name] = "exec:" + string(must(os.ReadFile(path))(t))
		default:
			if info.Mode()&fs.ModeSymlink == 0 {
				return fmt.Errorf("%s has mode %v", name, info.Mode())
			}
			tr[name] = "-> " + must(os.Readlink(path))(t)
		}
		return nil
	}))
	return tr
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// rig is a workspace, a store, and a place for canaries.
type rig struct {
	testing.TB
	base, workspace string
	store           *Store
}

func newRig(t testing.TB, content tree, limits Limits) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{TB: t, base: base, workspace: filepath.Join(base, "workspace")}
	check(t, os.Mkdir(r.workspace, 0o755))
	content.make(t, r.workspace)
	r.store = must(Open(t.Context(), filepath.Join(base, "seal.git"), limits, slog.New(slog.DiscardHandler)))(t)
	return r
}

var testTime = time.Unix(1_700_000_000, 999)

func (r *rig) try() (Seal, error) {
	r.Helper()
	d := must(dirfd.Open(r.workspace))(r)
	defer d.Close()
	return r.store.Seal(r.Context(), d, "sleep 1", testTime)
}

func (r *rig) seal() Seal {
	r.Helper()
	return must(r.try())(r)
}

// back materializes a seal into a fresh directory.
func (r *rig) back(commit string) tree {
	r.Helper()
	into := must(os.MkdirTemp(r.base, "back-*"))(r)
	d := must(dirfd.Open(into))(r)
	defer d.Close()
	check(r, r.store.Materialize(r.Context(), commit, d))
	return readTree(r, into)
}

// canary returns a shell command that leaves a file, and a check that it has
// not run.
func (r *rig) canary() (command string, silent func()) {
	path := filepath.Join(r.base, "canary")
	return "touch " + path, func() {
		r.Helper()
		if _, err := os.Lstat(path); err == nil {
			r.Error("something of the workspace's ran")
		}
	}
}

// author runs git as the author would, in a directory of the workspace.
func (r *rig) author(dir string, args ...string) {
	r.Helper()
	cmd := exec.Command("git", append([]string{
		"-C", filepath.Join(r.workspace, dir),
		"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main",
	}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// operator runs git on the store, as a person who looks into it does.
func (r *rig) operator(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir=" + r.store.git.Dir}, args...)...)
	cmd.Env = r.store.git.Environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s Seal) why(untrustedPath string) string {
	for _, l := range s.LeftOut {
		if l.UntrustedPath == untrustedPath {
			return l.Why
		}
	}
	return ""
}
