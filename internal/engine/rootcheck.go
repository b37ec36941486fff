package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckRoot refuses a state root that could not be worked in: one on a disk that is
// full or read-only, or one of somebody else. It may be one that is still to be made.
// Nothing is changed; a file is written and removed again, since nothing else tells
// what a quota or a server will say. What is wrong is a *[SettingsError]. Its version
// is for [OpenRoot] to check.
//
// It is for the beginning of what an operator asks for. A run that is under way waits
// for its disk instead.
func CheckRoot(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at := abs
	for {
		info, err := os.Stat(at)
		if err == nil {
			if at == abs {
				err = checkOwner(abs, info)
				sweepProbes(abs)
			}
			if err != nil {
				return err
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return unusable(abs, err)
		}
		at = filepath.Dir(at)
	}
	return unusable(abs, probe(at))
}

// checkOwner refuses another user's state root, also to root: what root makes in it
// its owner's next tick could not touch.
func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return refuse("give the path of a directory as --root or OUTERLOOP_ROOT", "the state root %s is no directory", path)
	case ok && int(st.Uid) != os.Geteuid():
		return refuse("work as that user, or give another --root", "the state root %s belongs to user %d, and this is user %d",
			path, st.Uid, os.Geteuid())
	}
	return nil
}

// probeBytes is more than a filesystem keeps in a file's inode, and about what a
// record and a prompt take.
const probeBytes = 64 << 10

const probePrefix = ".probe-"

// sweepProbes removes the files of probes that were killed. Of one that is under way it
// takes the name, which it was about to remove itself. What fails here says the probe.
func sweepProbes(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, probePrefix+"*"))
	for _, path := range left {
		os.Remove(path)
	}
}

// probe writes a file and removes it.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, probePrefix)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	// Network filesystems say only at the close that the disk is full.
	err = errors.Join(err, f.Close())
	if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// unusable says why a state root cannot be written, and what is to be done.
func unusable(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return refuse("make room; outerloop-tick prune removes what ended runs have left", "the disk of the state root %s is full", path)
	case errors.Is(err, syscall.EDQUOT):
		return refuse("make room; outerloop-tick prune removes what ended runs have left", "your quota on the disk of the state root %s is used up", path)
	case errors.Is(err, syscall.EROFS):
		return refuse("have it mounted for writing, or give another --root", "the state root %s is on a read-only disk", path)
	case errors.Is(err, fs.ErrPermission):
		return refuse("change its permissions, or give another --root", "the state root %s may not be written by you", path)
	}
	return fmt.Errorf("writing in the state root %s: %w", path, err)
}
