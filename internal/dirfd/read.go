package dirfd

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stat is what the kernel needs to know of a file before it touches it.
type Stat struct {
	ID      ID
	Mode    fs.FileMode // type and permission bits
	Size    int64
	Links   uint64
	ModTime time.Time // in full resolution; any int64 of seconds can occur
}

func statOf(st *unix.Stat_t) Stat {
	mode := fs.FileMode(st.Mode & 0o777)
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	return Stat{
		ID:      ID{uint64(st.Dev), st.Ino},
		Mode:    mode,
		Size:    st.Size,
		Links:   uint64(st.Nlink),
		ModTime: time.Unix(st.Mtim.Unix()),
	}
}

// Lstat describes what stands under the name, links themselves included.
func (d *Dir) Lstat(untrustedName string) (Stat, error) {
	var st unix.Stat_t
	err := d.at("lstat", untrustedName, func(fd int) error {
		return unix.Fstatat(fd, untrustedName, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

// OpenRegular opens a regular file for reading, hard links allowed. Whatever
// else stands under the name is refused with ErrNotRegular.
//
// The attacker's move is to put a FIFO, a device or a link in the file's place
// between a stat and the open. There is no such window: the open itself does
// not follow (O_NOFOLLOW) and does not wait (O_NONBLOCK), and the fstat is of
// what was opened. Opening a tape or a watchdog device acts on it; the sandbox
// and nodev mounts are what keeps devices out of a workspace.
func (d *Dir) OpenRegular(untrustedName string) (*os.File, Stat, error) {
	fd, stat, err := d.openRegular(untrustedName)
	if err != nil {
		return nil, stat, err
	}
	return os.NewFile(uintptr(fd), d.join(untrustedName)), stat, nil
}

func (d *Dir) openRegular(untrustedName string) (file int, stat Stat, err error) {
	err = d.at("open", untrustedName, func(fd int) error {
		n, err := openBelow(fd, untrustedName,
			unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return notRegular(err)
		}
		var st unix.Stat_t
		if err := retry(func() error { return unix.Fstat(n, &st) }); err != nil {
			unix.Close(n)
			return err
		}
		if stat = statOf(&st); !stat.Mode.IsRegular() {
			unix.Close(n)
			return ErrNotRegular
		}
		file = n
		return nil
	})
	return file, stat, err
}

// ReadSmall returns the content of a regular file of at most max bytes. One
// byte more is ErrTooLarge, and no more than that byte is read, however the
// file grows meanwhile.
//
// A file with more than one hard link is refused: it may be somebody else's,
// linked here to be read by the kernel in its stead. A session that unlinks it
// between our open and our fstat gets through this check. What keeps it from
// linking such a file at all is the sandbox, whose mounts no link crosses, or
// fs.protected_hardlinks; see proc(5).
//
// The descriptor is read as it is: an os.File would ask the system twice more
// whether a regular file can be waited for, and a question reads five files.
func (d *Dir) ReadSmall(untrustedName string, max int64) ([]byte, error) {
	fd, st, err := d.openRegular(untrustedName)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	fail := func(err error) ([]byte, error) { return nil, pathError("read", d.join(untrustedName), err) }
	switch {
	case st.Links > 1:
		return fail(ErrNotRegular)
	case st.Size > max:
		return fail(ErrTooLarge)
	}
	// The size is a hint for the allocation only: a sparse file of terabytes
	// was refused above, and one that grows is caught by the limit.
	data := make([]byte, 0, min(st.Size, max)+1)
	for {
		if int64(len(data)) > max {
			return fail(ErrTooLarge)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		var n int
		room := data[len(data):min(int64(cap(data)), max+1)]
		err := retry(func() (err error) {
			n, err = unix.Read(fd, room)
			return err
		})
		if err != nil {
			return fail(err)
		}
		data = data[:len(data)+n]
		// Where as much came as there is, with room for more, that was the end.
		if n == 0 || n < len(room) && int64(len(data)) == st.Size {
			return data, nil
		}
	}
}

// Readlink returns a link's target, at most max bytes of it; a longer one is
// ErrTooLarge.
func (d *Dir) Readlink(untrustedName string, max int) (untrustedTarget string, err error) {
	buf := make([]byte, max+1)
	err = d.at("readlink", untrustedName, func(fd int) error {
		n, err := unix.Readlinkat(fd, untrustedName, buf)
		if err != nil {
			return err
		}
		if n > max {
			return ErrTooLarge
		}
		untrustedTarget = string(buf[:n])
		return nil
	})
	return untrustedTarget, err
}

// List returns the names in the directory, at most max of them in no order, and
// whether there are more. A million planted entries cost what max entries cost.
func (d *Dir) List(max int) (untrustedNames []string, more bool, err error) {
	dup, err := d.reopen()
	if err != nil {
		return nil, false, err
	}
	f := os.NewFile(uintptr(dup.fd), d.name) // f owns the descriptor from here on
	defer f.Close()
	names, err := f.Readdirnames(max + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if len(names) > max {
		return names[:max], true, nil
	}
	return names, false, nil
}

func isExist(err error) bool { return errors.Is(err, fs.ErrExist) }
