package seal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/git"
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
	git    git.Repo
	limits Limits
	log    *slog.Logger
}

// Open opens the repository at gitDir and makes it first where nothing is, whole
// or not at all. The parent directory must exist; the session must not be able
// to write to either. The program "git" has to be on PATH, version 2.28 or newer,
// and /bin/sh.
func Open(ctx context.Context, gitDir string, limits Limits, log *slog.Logger) (*Store, error) {
	program, err := git.Find()
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	dir, err := filepath.Abs(gitDir)
	if err != nil {
		return nil, fmt.Errorf("open the seals at %s: %w", gitDir, err)
	}
	s := &Store{
		git:    git.Repo{Program: program, Dir: dir, Settings: settings()},
		limits: limits.withDefaults(),
		log:    log,
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		err = s.git.Create(ctx, filepath.Base(branch))
		if err != nil {
			return nil, fmt.Errorf("make a repository for seals at %s: %w", dir, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("open the seals at %s: %w", dir, err)
	}
	return s, nil
}

// settings are those of every git process on a store.
func settings() []string {
	return []string{
		"pack.compression=1",       // half the time of the default, a sixth more disk, for Go sources
		"fastimport.unpackLimit=0", // one pack per seal: one fsync, not one per object
		"gc.auto=0",
		"maintenance.auto=false",
	}
}

// lock keeps other processes from sealing into this repository, and removes
// what one that was killed has left. It waits until the context ends.
func (s *Store) lock(ctx context.Context) (held *os.File, err error) {
	held, err = s.git.Lock(ctx, lockName)
	if err != nil {
		return nil, err
	}
	if err := s.tidy(); err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

// tidy removes what a killed seal left behind. The caller holds the lock, which
// no git process of an earlier seal has any more, so every lock file is stale.
func (s *Store) tidy() error {
	for _, pattern := range []string{
		"shadow-*", "fast_import_crash_*", "HEAD.lock", branch + ".lock", "objects/pack/tmp_*",
	} {
		stale, err := fs.Glob(os.DirFS(s.git.Dir), pattern)
		if err != nil {
			return err
		}
		for _, name := range stale {
			s.log.Debug("removing what an unfinished seal left", "store", s.git.Dir, "name", name)
			if err := os.RemoveAll(filepath.Join(s.git.Dir, name)); err != nil {
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
		durable.SyncDir(filepath.Join(s.git.Dir, "objects/pack")),
		git.SyncTree(filepath.Join(s.git.Dir, "refs/heads")),
	)
}
