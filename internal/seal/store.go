package seal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// branch holds the chain of seals. HEAD of the repository names it, so that an
// operator's plain `git log` and `git diff` show what changed from sleep to sleep.
const branch = "refs/heads/seals"

// lockName is the file in the repository whose flock(2) a seal holds. It is
// never removed: two holders could have one each.
const lockName = "outerloop.lock"

// Store is one run's repository of seals. Its methods may be called at the same
// time, also from several processes.
type Store struct {
	git    git
	limits Limits
	log    *slog.Logger
}

// Open opens the repository at gitDir and makes it first where nothing is, whole
// or not at all. The parent directory must exist; the session must not be able
// to write to either. The program "git" has to be on PATH, version 2.28 or newer,
// and /bin/sh.
func Open(ctx context.Context, gitDir string, limits Limits, log *slog.Logger) (*Store, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("sealing needs the program git, which is not on PATH: %w", err)
	}
	dir, err := filepath.Abs(gitDir)
	if err != nil {
		return nil, fmt.Errorf("open the seals at %s: %w", gitDir, err)
	}
	s := &Store{
		git:    git{program: program, dir: dir},
		limits: limits.withDefaults(),
		log:    log,
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		err = s.create(ctx)
		if err != nil {
			return nil, fmt.Errorf("make a repository for seals at %s: %w", dir, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("open the seals at %s: %w", dir, err)
	}
	return s, nil
}

// create builds the repository under another name and renames it into place: a
// half-made one is never found under gitDir. Of two processes that create it at
// one time the second finds a directory that is not empty, and uses it.
func (s *Store) create(ctx context.Context) error {
	temp, err := os.MkdirTemp(filepath.Dir(s.git.dir), ".seals-*") // 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	making := git{program: s.git.program, dir: temp}
	// An empty template: the system's would bring hooks and info/exclude.
	_, err = making.output(ctx, "init", "--quiet", "--bare", "--template=", "--object-format=sha1",
		"--initial-branch="+filepath.Base(branch))
	if err != nil {
		return err
	}
	if err := syncTree(temp); err != nil {
		return err
	}
	err = os.Rename(temp, s.git.dir)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDirs(filepath.Dir(s.git.dir))
}

// lock keeps other processes from sealing into this repository, and removes
// what one that was killed has left. It waits until the context ends.
func (s *Store) lock(ctx context.Context) (held *os.File, err error) {
	f, err := os.OpenFile(filepath.Join(s.git.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another process seals into %s: %w", s.git.dir, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
	if err := s.tidy(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tidy removes what a killed seal left behind. The caller holds the lock, which
// no git process of an earlier seal has any more, so every lock file is stale.
func (s *Store) tidy() error {
	for _, pattern := range []string{
		"shadow-*", "fast_import_crash_*", "HEAD.lock", branch + ".lock", "objects/pack/tmp_*",
	} {
		stale, err := fs.Glob(os.DirFS(s.git.dir), pattern)
		if err != nil {
			return err
		}
		for _, name := range stale {
			s.log.Debug("removing what an unfinished seal left", "store", s.git.dir, "name", name)
			if err := os.RemoveAll(filepath.Join(s.git.dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync makes durable what git leaves to luck: it syncs packs, but not the
// directories that hold names, and before 2.36 not the branch.
func (s *Store) sync() error {
	return errors.Join(
		syncDirs(filepath.Join(s.git.dir, "objects/pack")),
		syncTree(filepath.Join(s.git.dir, "refs/heads")),
	)
}

func syncDirs(paths ...string) error {
	for _, path := range paths {
		d, err := dirfd.Open(path)
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return syncDirs(path)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}
