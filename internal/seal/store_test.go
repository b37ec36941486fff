package seal

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	s := r.seal()
	if mode := must(os.Stat(r.store.git.Dir))(t).Mode().Perm(); mode != 0o700 {
		t.Errorf("mode %v", mode)
	}
	again := must(Open(t.Context(), r.store.git.Dir, Limits{}, slog.New(slog.DiscardHandler)))(t)
	r.store = again
	if diff := cmp.Diff(tree{"a": "1"}, r.back(s.Commit)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(filepath.Join(r.store.git.Dir, "hooks")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the system's template was used: %v", err)
	}
}

func TestOpenAtOneTime(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := Open(t.Context(), filepath.Join(base, "seal.git"), Limits{}, slog.New(slog.DiscardHandler)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if left := must(os.ReadDir(base))(t); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSealAtOneTime: seals into one store wait for each other, and none is lost.
func TestSealAtOneTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := r.try(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.operator("rev-list", "--count", "HEAD"); n != "6" {
		t.Errorf("%s seals", n)
	}
}

func TestStaleFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	r.seal()
	tree{
		"HEAD.lock": "", "refs/heads/seals.lock": "", "shadow-1/d/.gitignore": "a\n", "fast_import_crash_1": "",
		"objects/pack/tmp_pack_x": "half", "objects/pack/tmp_idx_x": "half",
	}.make(t, r.store.git.Dir)
	r.seal()
	clean(t, r.store)
}

// TestOrphanKeepsTheLock: a git that outlives its kernel still holds the store,
// since it may be about to move the branch.
func TestOrphanKeepsTheLock(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	g := r.store.git
	g.Held = must(r.store.lock(t.Context()))(t)
	im := must(startImport(t.Context(), g, r.store.limits, map[oid]bool{}))(t)
	check(t, g.Held.Close()) // as the death of this process would
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d := must(dirfd.Open(r.workspace))(t)
	defer d.Close()
	if _, err := r.store.Seal(ctx, d, "", testTime); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sealed beside the orphan: %v", err)
	}
	im.end()
	r.seal()
}

// TestKilled kills the sealing process, which is this program once more, with
// SIGKILL at ever later moments.
func TestKilled(t *testing.T) {
	const key = "SEAL_TEST_KILLED"
	if base := os.Getenv(key); base != "" {
		store := must(Open(t.Context(), filepath.Join(base, "seal.git"), Limits{}, slog.New(slog.DiscardHandler)))(t)
		d := must(dirfd.Open(filepath.Join(base, "workspace")))(t)
		must(store.Seal(t.Context(), d, "m", testTime))(t)
		return
	}
	t.Parallel()
	r := newRig(t, tree{".gitignore": "x\n", "a": "1", "large": strings.Repeat("0123456789abcdef", 1<<20)}, Limits{})
	check(t, os.RemoveAll(r.store.git.Dir))
	killed, finished := 0, 0
	for wait := time.Millisecond; finished == 0 && wait < 10*time.Second; wait += wait/3 + time.Millisecond {
		cmd := exec.Command(must(os.Executable())(t), "-test.run=^TestKilled$")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), key + "=" + r.base}
		check(t, cmd.Start())
		timer := time.AfterFunc(wait, func() { cmd.Process.Kill() })
		if cmd.Wait() == nil {
			finished++
		} else {
			killed++
		}
		timer.Stop()
	}
	t.Logf("%d killed, %d finished", killed, finished)
	r.store = must(Open(t.Context(), r.store.git.Dir, Limits{}, r.store.log))(t)
	s := r.seal()
	if got := r.back(s.Commit); len(got) != 3 || killed == 0 {
		t.Errorf("%d files, %d killed", len(got), killed)
	}
	r.operator("fsck", "--full")
	clean(t, r.store)
}

func TestMaterializeRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	s := r.seal()
	d := must(dirfd.Open(r.workspace))(t)
	defer d.Close()
	if err := r.store.Materialize(t.Context(), s.Commit, d); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("into a directory with files: %v", err)
	}
	empty := must(dirfd.Open(t.TempDir()))(t)
	defer empty.Close()
	for _, commit := range []string{"", "HEAD", "--help", s.Commit[:12], strings.Repeat("0", 40), s.Commit + " "} {
		if err := r.store.Materialize(t.Context(), commit, empty); err == nil {
			t.Errorf("%q was brought back", commit)
		}
	}
	if names, _, err := empty.List(10); err != nil || len(names) > 0 {
		t.Errorf("a refusal wrote %v, %v", names, err)
	}
}

// TestMaterializeDamaged: an object that is gone is an error that says so.
func TestMaterializeDamaged(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	missing := hashOf([]byte("nobody has this"))
	d := must(dirfd.Open(t.TempDir()))(t)
	defer d.Close()
	r.seal()
	tree := r.operator("hash-object", "-w", "-t", "tree", "--literally", r.file("tree", "100644 a\x00"+string(missing[:])))
	commit := r.operator("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "m", tree)
	err := r.store.Materialize(t.Context(), commit, d)
	if err == nil || !strings.Contains(err.Error(), "the store is damaged: asked for "+missing.String()) {
		t.Errorf("%v", err)
	}
}

func (r *rig) file(name, content string) string {
	tree{name: content}.make(r, r.base)
	return filepath.Join(r.base, name)
}

// TestSecondSealSendsNothing: what the last seal holds is not stored again.
func TestSecondSealSendsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"large": strings.Repeat("0123456789abcdef", 1<<18), "small": "x"}, Limits{})
	r.seal()
	check(t, os.Rename(filepath.Join(r.workspace, "large"), filepath.Join(r.workspace, "moved")))
	before := packed(t, r.store)
	r.seal()
	if grown := packed(t, r.store) - before; grown > 5000 {
		t.Errorf("the store grew by %d bytes", grown)
	}
}

func packed(t *testing.T, s *Store) (size int64) {
	t.Helper()
	for _, name := range must(filepath.Glob(filepath.Join(s.git.Dir, "objects/pack/*")))(t) {
		size += must(os.Stat(name))(t).Size()
	}
	return size
}

// TestErrorsCarryGitsWords: a store that git cannot use is reported in its words.
func TestErrorsCarryGitsWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"a": "1"}, Limits{})
	check(t, os.Remove(filepath.Join(r.store.git.Dir, "HEAD")))
	_, err := r.try()
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("%v", err)
	}
}

// clean fails the test when a seal has left something behind.
func clean(t *testing.T, s *Store) {
	t.Helper()
	for _, pattern := range []string{"shadow-*", "*.lock", "refs/heads/*.lock", "fast_import_crash_*", "objects/pack/tmp_*", "objects/??"} {
		found := must(filepath.Glob(filepath.Join(s.git.Dir, pattern)))(t)
		for _, name := range found {
			if filepath.Base(name) != lockName {
				t.Errorf("%s was left behind", name)
			}
		}
	}
}
