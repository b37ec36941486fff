package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
)

// Create makes the repository, whole or not at all: it is built under another name
// and renamed into place, so that a half-made one is never found under Dir. Of two
// processes that create it at one time the second finds a directory that is not
// empty, and uses it. The directory above must exist. It needs git 2.28 or newer.
func (r Repo) Create(ctx context.Context, branch string) error {
	temp, err := os.MkdirTemp(filepath.Dir(r.Dir), ".git-*") // 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	making := Repo{Program: r.Program, Dir: temp}
	// An empty template: the system's would bring hooks and info/exclude.
	_, err = making.Output(ctx, "init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch="+branch)
	if err != nil {
		return err
	}
	if err := SyncTree(temp); err != nil {
		return err
	}
	err = os.Rename(temp, r.Dir)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(r.Dir))
}

// Lock takes the flock(2) of a file in the repository, which is made where it is
// missing and never removed: two holders could have one each. It waits until the
// context ends. The lock is given up when the file is closed and every process that
// has it as [Repo].Held has ended.
func (r Repo) Lock(ctx context.Context, name string) (held *os.File, err error) {
	f, err := os.OpenFile(filepath.Join(r.Dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another process works on %s: %w", r.Dir, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// SyncTree makes a directory and all that is below it durable.
func SyncTree(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return durable.SyncDir(path)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
