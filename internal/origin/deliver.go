package origin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// WorkspaceError says why a workspace has no place for origin/*. It may be told to the
// author.
type WorkspaceError struct{ Reason string }

func (e *WorkspaceError) Error() string { return e.Reason }

// lockName is the file in the mirror that is locked. It does not end in .lock, as git's
// own do, which are removed when they are stale.
const lockName = "outerloop-lock"

// Sync fetches, and puts what is new into a workspace. It returns how many branches
// there are and which have moved. A fetch that fails leaves the workspace as it is.
func (m *Mirror) Sync(ctx context.Context, workspace string) (branches int, moved []channel.Moved, err error) {
	author, err := openRepository(workspace)
	if err != nil {
		return 0, nil, err
	}
	defer author.Close()
	held, err := m.git.Lock(ctx, lockName)
	if err != nil {
		return 0, nil, err
	}
	defer held.Close()
	locked := *m
	locked.git.Held = held
	if err := locked.fetch(ctx); err != nil {
		return 0, nil, fmt.Errorf("fetch: %w", err)
	}
	now, err := locked.branches(ctx)
	if err != nil {
		return 0, nil, err
	}
	if err := locked.putPacks(ctx, author); err != nil {
		return 0, nil, fmt.Errorf("bring objects into %s: %w", workspace, err)
	}
	moved, err = putBranches(author, now)
	if err != nil {
		return 0, nil, fmt.Errorf("bring branches into %s: %w", workspace, err)
	}
	return len(now), moved, nil
}

// openRepository opens the workspace's .git, and sees to it that it is one that loose
// references and packs of SHA-1 can be put into.
func openRepository(workspace string) (*dirfd.Dir, error) {
	ws, err := dirfd.Open(workspace)
	if err != nil {
		return nil, err
	}
	defer ws.Close()
	author, err := ws.Sub(".git")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &WorkspaceError{"the workspace is no git repository: run git init there, and sync again"}
	}
	if err != nil {
		return nil, &WorkspaceError{"the workspace's .git is no directory of its own, and nothing can be brought there"}
	}
	untrusted, err := author.ReadSmall("config", 1<<20)
	if err != nil {
		author.Close()
		return nil, &WorkspaceError{"the workspace's .git has no configuration that can be read: is it a repository?"}
	}
	for _, other := range []string{"reftable", "sha256"} {
		if strings.Contains(strings.ToLower(string(untrusted)), other) {
			author.Close()
			return nil, &WorkspaceError{"the workspace's repository has the format " + other +
				", and only one as git init makes by itself can be synced"}
		}
	}
	return author, nil
}

// putPacks copies the packs that the workspace does not have. A pack's name is a digest
// of what is in it, so one that is there in full length is the same.
func (m *Mirror) putPacks(ctx context.Context, author *dirfd.Dir) error {
	packs, err := filepath.Glob(filepath.Join(m.git.Dir, "objects/pack/*.idx"))
	if err != nil || len(packs) == 0 {
		return err
	}
	to, err := author.SubPath("objects/pack", true)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, idx := range packs {
		// Git looks for indices, and for the pack then.
		for _, from := range []string{strings.TrimSuffix(idx, ".idx") + ".pack", idx} {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := put(to, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// put copies a file of the mirror unless it is there.
func put(to *dirfd.Dir, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(from)
	if there, err := to.Lstat(name); err == nil && there.Mode.IsRegular() && there.Size == info.Size() {
		return nil
	}
	_, err = to.PublishFrom(name, f, info.Size(), 0o444, dirfd.Volatile)
	return err
}

// putBranches makes refs/remotes/origin what the branches are. References that the
// author's git has packed away are older than these, which go before them; of branches
// that are gone it keeps them.
func putBranches(author *dirfd.Dir, now map[string]string) (moved []channel.Moved, err error) {
	origin, err := author.SubPath("refs/remotes/origin", true)
	if err != nil {
		return nil, err
	}
	defer origin.Close()
	// Before others are made: a branch a/b cannot be beside a branch a.
	gone, err := prune(origin, "", now, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range gone {
		moved = append(moved, channel.Moved{Branch: name})
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, err := putBranch(origin, name, now[name])
		if err != nil {
			return nil, err
		}
		if was != now[name] {
			moved = append(moved, channel.Moved{Branch: name, Commit: now[name], Was: was})
		}
	}
	return moved, nil
}

const maxReference = 256 // bytes of a loose reference

func putBranch(origin *dirfd.Dir, name, commit string) (was string, err error) {
	dir, file := "", name
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		dir, file = name[:at], name[at+1:]
	}
	d, err := origin.SubPath(dir, true)
	if err != nil {
		return "", err
	}
	defer d.Close()
	untrusted, err := d.ReadSmall(file, maxReference)
	if err == nil {
		if was = strings.TrimSpace(string(untrusted)); was == commit {
			return was, nil
		}
	}
	if !isCommit(was) {
		was = ""
	}
	return was, d.Publish(file, []byte(commit+"\n"), dirfd.Volatile)
}

func isCommit(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

// prune removes the loose references of branches that are gone, and returns their names.
// HEAD is the author's, or of whoever cloned.
func prune(d *dirfd.Dir, prefix string, now map[string]string, depth int) (gone []string, err error) {
	const deepest = 64
	if depth == deepest {
		return nil, nil
	}
	untrustedNames, _, err := d.List(2 * maxBranches)
	if err != nil {
		return nil, err
	}
	for _, untrustedName := range untrustedNames {
		name := prefix + untrustedName
		if _, stays := now[name]; stays || name == "HEAD" {
			continue
		}
		sub, err := d.Sub(untrustedName)
		if err == nil {
			below, err := prune(sub, name+"/", now, depth+1)
			sub.Close()
			if err != nil {
				return nil, err
			}
			gone = append(gone, below...)
			continue
		}
		if st, err := d.Lstat(untrustedName); err != nil || !st.Mode.IsRegular() || strings.HasSuffix(name, ".lock") || dirfd.Temporary(untrustedName) {
			continue
		}
		if err := d.Remove(untrustedName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		gone = append(gone, name)
	}
	return gone, nil
}
