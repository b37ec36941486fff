package dirfd

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Durability says what a publish has to survive.
type Durability int

const (
	// Volatile files are whole or absent to every reader, and may be gone after
	// a power cut. Answers to questions live no longer than the question.
	Volatile Durability = iota
	// Settled files have their content on disk when the call returns, and their names
	// once the directory is synced: one [Dir.Sync] is for all files of a step.
	Settled
	// Durable files are on disk, name included, when the call returns. An fsync
	// costs about ten milliseconds on an ordinary disk.
	Durable
)

// Publish puts a file in place under its name, whole or not at all. What stood
// there before is replaced, never opened: a link, a FIFO or a hard link to a
// victim's file loses its name and nothing else. A directory in its place is
// moved aside, to a name of no meaning.
func (d *Dir) Publish(name string, data []byte, durability Durability) error {
	return d.publish(name, durability, 0o666, func(file int) error {
		for len(data) > 0 {
			var n int
			err := retry(func() (err error) {
				n, err = unix.Write(file, data)
				return err
			})
			if err != nil {
				return pathError("write", d.join(name), err)
			}
			data = data[n:]
		}
		return nil
	})
}

// PublishFrom is Publish for content that is read from r, of which max bytes
// are taken; one byte more is ErrTooLarge and publishes nothing. The file gets
// the permission bits of perm that the umask leaves. The size is what was
// published, 0 with an error.
func (d *Dir) PublishFrom(name string, r io.Reader, max int64, perm fs.FileMode, durability Durability) (size int64, err error) {
	err = d.publish(name, durability, perm, func(file int) error {
		f, err := dupFile(file, d.join(name))
		if err != nil {
			return err
		}
		// An os.File, for it lets the filesystem copy by itself where it can.
		size, err = io.Copy(f, io.LimitReader(r, max+1))
		if failed := f.Close(); err == nil {
			err = failed
		}
		if err == nil && size > max {
			return pathError("publish", d.join(name), ErrTooLarge)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

func dupFile(file int, name string) (*os.File, error) {
	n, err := retryFD(func() (int, error) { return unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return nil, pathError("dup", name, err)
	}
	return os.NewFile(uintptr(n), name), nil
}

func (d *Dir) publish(name string, durability Durability, perm fs.FileMode, write func(file int) error) (err error) {
	if err := checkName(name); err != nil {
		return pathError("publish", d.join(name), err)
	}
	// One hold from the first step to the last: a Close in between would leave
	// the temporary name behind with nobody to remove it.
	fd, err := d.acquire("publish")
	if err != nil {
		return err
	}
	defer d.release()
	file, temp, err := d.createTemp(fd, perm)
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if !renamed {
			unix.Unlinkat(fd, temp, 0)
		}
	}()
	if err := d.fill(file, temp, durability, write); err != nil {
		return err
	}
	// The attacker may have replaced the temporary name by now, since it can
	// list the directory. Then its own file is published in its own channel,
	// which it could have written there anyway.
	rename := func() error {
		return d.held(fd, "rename", name, func(fd int) error { return unix.Renameat(fd, temp, fd, name) })
	}
	err = rename()
	if errors.Is(err, unix.EISDIR) {
		if err := d.Discard(name); err != nil {
			return err
		}
		err = rename() // a directory that is there again is not fought over
	}
	if err != nil {
		return err
	}
	renamed = true
	if durability == Durable {
		return d.syncFD(fd)
	}
	return nil
}

// fill writes the content and closes the file. It is closed before it gets its
// name, and the close is checked, because network filesystems say only there
// that the disk or the quota is full: what is cut short is never published.
//
// The descriptor is used as it is: an os.File would ask the system first whether
// the file can be waited for, twice in each answer.
func (d *Dir) fill(file int, temp string, durability Durability, write func(file int) error) error {
	err := write(file)
	if err == nil && durability >= Settled {
		err = pathError("sync", d.join(temp), retry(func() error { return unix.Fsync(file) }))
	}
	if failed := unix.Close(file); err == nil {
		err = pathError("close", d.join(temp), failed)
	}
	return err
}

// tempPrefix begins the names of files that are not whole yet, and 16 hexadecimal digits
// follow it.
const tempPrefix = ".tmp-"

// Temporary says whether a name is one that Publish gives a file which is not whole yet.
// Where its process was killed, somebody else has to remove it.
func Temporary(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(random) == 16 && strings.Trim(random, "0123456789abcdef") == ""
}

// createTemp makes a new file under a name that nobody could have guessed, let
// alone planted something under: O_EXCL refuses links and files alike.
func (d *Dir) createTemp(fd int, perm fs.FileMode) (file int, temp string, err error) {
	for range 3 {
		var random [8]byte
		if err := randomBytes(random[:]); err != nil {
			return -1, "", pathError("random", d.name, err)
		}
		temp = tempPrefix + hex.EncodeToString(random[:])
		err = d.held(fd, "create", temp, func(fd int) (err error) {
			file, err = openBelow(fd, temp,
				unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
			return err
		})
		if err == nil || !isExist(err) {
			return file, temp, err
		}
	}
	return -1, "", err
}

// Remove unlinks a file, link or special file. A directory is not removed.
func (d *Dir) Remove(untrustedName string) error {
	return d.at("remove", untrustedName, func(fd int) error {
		return unix.Unlinkat(fd, untrustedName, 0)
	})
}

// Symlink makes a link with that very target, which is not looked at.
func (d *Dir) Symlink(untrustedTarget, untrustedName string) error {
	return d.at("symlink", untrustedName, func(fd int) error {
		return unix.Symlinkat(untrustedTarget, fd, untrustedName)
	})
}

// Sync makes the names in the directory durable.
func (d *Dir) Sync() error {
	fd, err := d.acquire("sync")
	if err != nil {
		return err
	}
	defer d.release()
	return d.syncFD(fd)
}

func (d *Dir) syncFD(fd int) error {
	return pathError("sync", d.name, retry(func() error { return unix.Fsync(fd) }))
}

// Discard frees a name, whatever stands under it. What cannot be unlinked, a
// directory, is moved aside under a name of no meaning. Nothing there is no
// error.
func (d *Dir) Discard(untrustedName string) error {
	err := d.Remove(untrustedName)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var random [8]byte
	if err := randomBytes(random[:]); err != nil {
		return pathError("random", d.name, err)
	}
	aside := ".discarded-" + hex.EncodeToString(random[:])
	err = d.at("rename", untrustedName, func(fd int) error {
		return unix.Renameat(fd, untrustedName, fd, aside)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went by itself meanwhile
	}
	return err
}
