package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// scratch is a job's place to work, gone when the job is:
//
//	<root>/job-<random>.lock   held for as long as the runner lives
//	<root>/job-<random>/tree   the seal, the command's working directory
//	<root>/job-<random>/home   its HOME
//	<root>/job-<random>/tmp    its /tmp
//
// The lock says whether the owner lives. Unlike a pid with a start time it also
// holds for a root that several machines share, and cannot be mistaken.
type scratch struct {
	root, name string
	unlock     func() error
}

const (
	scratchPrefix = "job-"
	lockSuffix    = ".lock"
)

// newScratch makes a place below the root, which is made where it is missing.
func newScratch(root string, log *slog.Logger) (*scratch, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	s, err := takeScratch(root, log)
	for errors.Is(err, dirfd.ErrLocked) {
		s, err = takeScratch(root, log)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{s.path(), s.tree(), s.home(), s.temp()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	return s, nil
}

// takeScratch makes a lock and takes it. With [dirfd.ErrLocked] a sweep came in between,
// for which a lock that nobody holds is one whose owner was killed.
func takeScratch(root string, log *slog.Logger) (*scratch, error) {
	// The temporary file gives a name that nobody else has, and is the lock. While it is
	// open no other file can be taken for it.
	lock, err := os.CreateTemp(root, scratchPrefix+"*"+lockSuffix)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	s := &scratch{root: root, name: strings.TrimSuffix(filepath.Base(lock.Name()), lockSuffix)}
	s.unlock, err = tryLock(root, s.name)
	if errors.Is(err, dirfd.ErrLocked) {
		return nil, err
	}
	if err != nil {
		// On a filesystem without locks nobody can sweep either, so the job
		// is safe and only its rubbish would stay.
		log.Warn("scratch cannot be locked; it stays if this job is killed", "root", root, "err", err)
		s.unlock = func() error { return nil }
		return s, nil
	}
	made, err := lock.Stat()
	there, lstatErr := os.Lstat(lock.Name())
	if err := errors.Join(err, lstatErr); err != nil || !os.SameFile(made, there) {
		return nil, errors.Join(err, dirfd.ErrLocked, s.remove())
	}
	return s, nil
}

func (s *scratch) path() string { return filepath.Join(s.root, s.name) }
func (s *scratch) tree() string { return filepath.Join(s.path(), "tree") }
func (s *scratch) home() string { return filepath.Join(s.path(), "home") }
func (s *scratch) temp() string { return filepath.Join(s.path(), "tmp") }

// remove removes everything. After an error it is left to [SweepScratch].
func (s *scratch) remove() error {
	defer s.unlock()
	return removeScratch(s.root, s.name)
}

// SweepScratch removes what runners that were killed have left below the root.
// What belongs to a runner that lives, on this machine or another, stays. It
// may be called by anybody at any time, and does all it can before it returns
// an error. A root that is not there has nothing to sweep.
func SweepScratch(root string, log *slog.Logger) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep scratch: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		name, isLock := strings.CutSuffix(entry.Name(), lockSuffix)
		if !strings.HasPrefix(name, scratchPrefix) || isLock == entry.IsDir() || isLock && !orphan(root, name) {
			continue
		}
		unlock, err := tryLock(root, name)
		if errors.Is(err, dirfd.ErrLocked) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep scratch %s: %w", name, err))
			continue
		}
		if err := removeScratch(root, name); err != nil {
			errs = append(errs, fmt.Errorf("sweep scratch %s: %w", name, err))
		} else {
			log.Info("swept the scratch of a job that was killed", "path", filepath.Join(root, name))
		}
		unlock()
	}
	return errors.Join(errs...)
}

// orphan says whether a lock has no directory: its owner was killed before it made one, or
// after it removed it, or is about to make it.
func orphan(root, name string) bool {
	_, dir := os.Lstat(filepath.Join(root, name))
	_, lock := os.Lstat(filepath.Join(root, name+lockSuffix))
	return errors.Is(dir, fs.ErrNotExist) && lock == nil
}

// tryLock takes the lock that goes with the name, or fails at once.
func tryLock(root, name string) (unlock func() error, err error) {
	dir, err := dirfd.Open(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Lock(context.Background(), name+lockSuffix, 0)
}

// removeScratch removes the directory and then the lock, whose holder calls it. An owner
// that has not taken it yet finds it gone, and the name never comes again.
func removeScratch(root, name string) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.RemoveAll(name); err != nil {
		// A command may leave directories that it has made unwritable.
		unprotect(dir, name)
		if err := dir.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := dir.Remove(name + lockSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unprotect gives their owner all access to a directory and those below it, as
// far as it can. Nothing it does can reach outside: an os.Root follows no link
// out of itself, and what it changes is about to be removed.
func unprotect(parent *os.Root, untrustedName string) {
	info, err := parent.Lstat(untrustedName)
	if err != nil || !info.IsDir() {
		return
	}
	if err := parent.Chmod(untrustedName, 0o700); err != nil {
		return
	}
	dir, err := parent.OpenRoot(untrustedName)
	if err != nil {
		return
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return
	}
	for _, name := range names {
		unprotect(dir, name)
	}
}
