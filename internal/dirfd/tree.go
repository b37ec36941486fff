package dirfd

import (
	"encoding/hex"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// RemoveTree removes what stands under the name with all that is below it, and
// returns how many bytes of disk that frees. No link is followed and no other
// filesystem entered, whatever a session has planted: each step opens one name
// below a descriptor. Directories whose permissions are in the way get others, as
// far as the caller may change them. Nothing under the name is no error. After an
// error a part may be gone; the call may be repeated.
func (d *Dir) RemoveTree(untrustedName string) (freed int64, err error) {
	return d.walkTree(untrustedName, true)
}

// MeasureTree returns what RemoveTree would free, and changes nothing. What is
// deeper than any project's files are is not counted.
func (d *Dir) MeasureTree(untrustedName string) (bytes int64, err error) {
	return d.walkTree(untrustedName, false)
}

const (
	// treeDepth bounds the descriptors that are open at once. A tree is a path of
	// any depth to whoever makes it from inside.
	treeDepth = 64
	// treeBatch is how many names are read at once.
	treeBatch = 1024
	// treeRounds is how often a directory is emptied that somebody fills again.
	treeRounds = 3
)

// tree is one walk through a tree.
type tree struct {
	top    *Dir // that the tree stands in
	dev    uint64
	remove bool
	bytes  int64
	aside  []string // names in top of what was too deep
}

func (d *Dir) walkTree(untrustedName string, remove bool) (int64, error) {
	id, err := d.ID()
	if err != nil {
		return 0, err
	}
	t := &tree{top: d, dev: id.Dev, remove: remove}
	err = t.entry(d, untrustedName, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for err == nil && len(t.aside) > 0 {
		next := t.aside[len(t.aside)-1]
		t.aside = t.aside[:len(t.aside)-1]
		err = t.entry(d, next, 0)
	}
	return t.bytes, err
}

// entry removes one name. What it is may change at any time: a directory is opened
// as one or not at all, and unlinking never follows.
func (t *tree) entry(d *Dir, untrustedName string, depth int) error {
	var st unix.Stat_t
	err := d.at("lstat", untrustedName, func(fd int) error {
		return unix.Fstatat(fd, untrustedName, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if uint64(st.Dev) != t.dev {
			return pathError("remove", d.join(untrustedName), unix.EXDEV)
		}
		if depth == treeDepth {
			return t.putAside(d, untrustedName)
		}
		if err := t.directory(d, untrustedName, depth); err != nil {
			return err
		}
	}
	// Of a file with more names nothing is freed by the loss of one.
	if st.Mode&unix.S_IFMT == unix.S_IFDIR || st.Nlink == 1 {
		t.bytes += int64(st.Blocks) * 512
	}
	if !t.remove {
		return nil
	}
	flags := 0
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		flags = unix.AT_REMOVEDIR
	}
	return d.at("remove", untrustedName, func(fd int) error { return unix.Unlinkat(fd, untrustedName, flags) })
}

// directory empties a directory.
func (t *tree) directory(d *Dir, untrustedName string, depth int) error {
	sub, err := d.Sub(untrustedName)
	if t.remove && errors.Is(err, fs.ErrPermission) {
		err = d.at("chmod", untrustedName, func(fd int) error {
			return unix.Fchmodat(fd, untrustedName, 0o700, unix.AT_SYMLINK_NOFOLLOW)
		})
		if err == nil {
			sub, err = d.Sub(untrustedName)
		}
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	if !t.remove {
		return t.measure(sub, depth)
	}
	if err := sub.chmod(0o700); err != nil {
		return err
	}
	for round := 0; round < treeRounds; {
		names, more, err := sub.List(treeBatch)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := t.entry(sub, name, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if len(names) == 0 {
			return nil
		}
		if !more {
			round++
		}
	}
	return nil // whoever fills it meanwhile makes its removal fail
}

// chmod changes the permissions of the directory itself.
func (d *Dir) chmod(perm uint32) error {
	fd, err := d.acquire("chmod")
	if err != nil {
		return err
	}
	defer d.release()
	return pathError("chmod", d.name, retry(func() error { return unix.Fchmod(fd, perm) }))
}

// measure counts a directory's entries without a bound on their number: unlike a
// removal it cannot read them batch by batch from the beginning.
func (t *tree) measure(sub *Dir, depth int) error {
	names, _, err := sub.List(1 << 20)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.entry(sub, name, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// putAside moves a subtree that is too deep to where the walk began, to be removed
// from there.
func (t *tree) putAside(d *Dir, untrustedName string) error {
	if !t.remove {
		return nil
	}
	var random [8]byte
	if err := randomBytes(random[:]); err != nil {
		return pathError("random", d.name, err)
	}
	aside := ".discarded-" + hex.EncodeToString(random[:])
	top, err := t.top.acquire("rename")
	if err != nil {
		return err
	}
	defer t.top.release()
	err = d.at("rename", untrustedName, func(fd int) error { return unix.Renameat(fd, untrustedName, top, aside) })
	if err == nil {
		t.aside = append(t.aside, aside)
	}
	return err
}
