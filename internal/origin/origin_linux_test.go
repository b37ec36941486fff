package origin

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/attack"
)

// rig is a repository, a mirror of it, and a workspace.
type rig struct {
	*testing.T
	remote, workspace string
	mirror            *Mirror
}

func newRig(t *testing.T) *rig {
	base := t.TempDir()
	r := &rig{T: t, remote: filepath.Join(base, "remote"), workspace: filepath.Join(base, "ws")}
	for _, dir := range []string{r.remote, r.workspace} {
		r.git(base, "init", "-q", "-b", "main", dir)
	}
	r.commit("one")
	r.git(r.remote, "branch", "topic/a")
	var err error
	r.mirror, err = Open(t.Context(), filepath.Join(base, "mirror.git"), r.remote, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) git(dir string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *rig) commit(text string) string {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.remote, "file"), []byte(text), 0o666); err != nil {
		r.Fatal(err)
	}
	r.git(r.remote, "add", "file")
	r.git(r.remote, "commit", "-qm", text)
	return r.git(r.remote, "rev-parse", "main")
}

func (r *rig) sync() error {
	_, _, err := r.mirror.Sync(r.Context(), r.workspace)
	return err
}

// wantMain is where the workspace's git is to find origin/main, with all that belongs to it.
func (r *rig) wantMain(commit string) {
	r.Helper()
	if got := r.git(r.workspace, "rev-parse", "origin/main"); got != commit {
		r.Errorf("origin/main is %s, want %s", got, commit)
	}
	r.git(r.workspace, "fsck", "--strict", "--no-dangling")
}

// Each place that is written on the way holds each plant once. What can be replaced is;
// nothing outside is read or changed; no descriptor stays open.
func TestPlants(t *testing.T) {
	r := newRig(t)
	if err := r.sync(); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Base(first(t, filepath.Join(r.workspace, ".git/objects/pack/*.pack")))
	idx := strings.TrimSuffix(pack, "pack") + "idx"
	for _, place := range []string{
		"config", "objects", "objects/pack", "objects/pack/" + pack, "objects/pack/" + idx,
		"refs", "refs/remotes", "refs/remotes/origin", "refs/remotes/origin/main", "refs/remotes/origin/topic", "refs/remotes/origin/topic/a",
	} {
		for _, p := range attack.Plants() {
			t.Run(place+"/"+p.Name, func(t *testing.T) {
				r := &rig{T: t, remote: r.remote, workspace: t.TempDir(), mirror: r.mirror}
				r.git(r.workspace, "init", "-q", "-b", "main")
				canary := attack.NewCanary(t)
				gitDir := filepath.Join(r.workspace, ".git")
				if err := os.MkdirAll(filepath.Dir(filepath.Join(gitDir, place)), 0o777); err != nil {
					t.Fatal(err)
				}
				p.Put(t, gitDir, place, canary)
				before := attack.Descriptors(t, r.workspace)
				err := r.sync()
				canary.Check(t)
				if after := attack.Descriptors(t, r.workspace); after != before {
					t.Errorf("%d descriptors before, %d after", before, after)
				}
				if place == "config" {
					if !p.Own && err == nil {
						t.Error("a configuration that is no plain file of the author's was read")
					}
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func first(t *testing.T, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %q, %v", pattern, all, err)
	}
	return all[0]
}

// A fetch costs a pack, and what the workspace has is not brought again, until there are
// too many: then they become few, and the workspace's git finds everything still.
func TestManyFetches(t *testing.T) {
	r := newRig(t)
	var last string
	for i := range maxPacks + 3 {
		last = r.commit(fmt.Sprint("commit ", i))
		if err := r.sync(); err != nil {
			t.Fatal(err)
		}
	}
	r.wantMain(last)
	packs, err := filepath.Glob(filepath.Join(r.mirror.git.Dir, "objects/pack/*.pack"))
	if err != nil || len(packs) > maxPacks/2 {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	// The author's own housekeeping takes nothing away, and what it has packed is not lost.
	r.git(r.workspace, "gc", "-q")
	last = r.commit("after")
	if err := r.sync(); err != nil {
		t.Fatal(err)
	}
	r.wantMain(last)
}

// A kernel that was killed while its git fetched leaves lock files.
func TestStaleLocks(t *testing.T) {
	r := newRig(t)
	if err := r.sync(); err != nil {
		t.Fatal(err)
	}
	last := r.commit("two")
	for _, name := range []string{"packed-refs.lock", "HEAD.lock", "refs/heads/main.lock", "refs/heads/topic/a.lock", "objects/pack/tmp_pack_x"} {
		if err := os.WriteFile(filepath.Join(r.mirror.git.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.git(r.remote, "branch", "-f", "topic/a", "main")
	if err := r.sync(); err != nil {
		t.Fatal(err)
	}
	r.wantMain(last)
	if got := r.git(r.workspace, "rev-parse", "origin/topic/a"); got != last {
		t.Errorf("origin/topic/a is %s, want %s", got, last)
	}
}

// What cannot be written in the form of a repository's own is left alone.
func TestOtherFormats(t *testing.T) {
	r := newRig(t)
	workspace := t.TempDir()
	r.git(workspace, "init", "-q", "--object-format=sha256")
	_, _, err := r.mirror.Sync(t.Context(), workspace)
	if reason, ok := errors.AsType[*WorkspaceError](err); !ok || !strings.Contains(reason.Reason, "sha256") {
		t.Errorf("%v", err)
	}
	if left, err := filepath.Glob(filepath.Join(workspace, ".git/refs/remotes/*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

func TestCheckURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://example.org/x.git": true, "https://me@example.org/x": true, "ssh://git@example.org/x": true,
		"git@example.org:x.git": true, "/srv/x.git": true,
		"": false, "-u": false, "https://me:secret@example.org/x": false, "https://a/\nb": false, "\xff": false,
	} {
		if err := CheckURL(address); ok != (err == nil) || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
