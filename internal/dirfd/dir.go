package dirfd

import (
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. Its methods may be called by several goroutines at
// once, also while it is being closed: the descriptor goes when the last call
// has returned, so no call can hit another file that was given the same number.
type Dir struct {
	name string

	mu     sync.Mutex
	fd     int
	refs   int
	closed bool
}

// ID tells one directory or file from every other on the machine.
type ID struct{ Dev, Ino uint64 }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// Open opens the directory at a path that the caller trusts. Links in the path
// are followed, as the operator who wrote it expects.
func Open(path string) (*Dir, error) {
	return openAt(unix.AT_FDCWD, path, path, dirFlags)
}

// OpenNoFollow is Open for a path whose last component must itself be a
// directory and no link to one, else the error is ErrNotRegular.
func OpenNoFollow(path string) (*Dir, error) {
	// O_NOFOLLOW is about the last component, and after "link/" that is the
	// link's target.
	bare := strings.TrimRight(path, "/")
	if bare == "" {
		bare = path
	}
	return openAt(unix.AT_FDCWD, bare, path, dirFlags|unix.O_NOFOLLOW)
}

func openAt(at int, file, name string, flags int) (*Dir, error) {
	fd, err := retryFD(func() (int, error) { return unix.Openat(at, file, flags, 0) })
	if err != nil {
		if flags&unix.O_NOFOLLOW != 0 {
			err = notDirectory(err)
		}
		return nil, pathError("open", name, err)
	}
	return &Dir{fd: fd, name: name}, nil
}

// Close gives the descriptor up as soon as no call uses it any more. Calls that
// come later fail with fs.ErrClosed.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.refs > 0 {
		return nil
	}
	return pathError("close", d.name, unix.Close(d.fd))
}

// acquire hands out the descriptor and holds it open until release is called.
func (d *Dir) acquire(op string) (fd int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return -1, pathError(op, d.name, fs.ErrClosed)
	}
	d.refs++
	return d.fd, nil
}

func (d *Dir) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refs--
	if d.closed && d.refs == 0 {
		unix.Close(d.fd)
	}
}

// Name is the path the directory was opened by. It is for messages: what stands
// there now may be something else.
func (d *Dir) Name() string { return d.name }

func (d *Dir) join(name string) string { return d.name + "/" + name }

// ProcPath is a path that leads to this very directory wherever it has been
// moved to, for interfaces that take nothing but a path, such as inotify(7).
// It holds only while the Dir is open, only in this process, and only on Linux
// with /proc mounted.
func (d *Dir) ProcPath() string { return "/proc/self/fd/" + strconv.Itoa(d.fd) }

// ID returns the directory's identity.
func (d *Dir) ID() (ID, error) {
	fd, err := d.acquire("stat")
	if err != nil {
		return ID{}, err
	}
	defer d.release()
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return ID{}, pathError("stat", d.name, err)
	}
	return ID{uint64(st.Dev), st.Ino}, nil
}

// checkName lets only a single component through. ".." and "/" are how a name
// would leave the directory; a NUL would end it early in the kernel.
func checkName(untrustedName string) error {
	if untrustedName == "" || untrustedName == "." || untrustedName == ".." ||
		strings.ContainsAny(untrustedName, "/\x00") {
		return ErrBadName
	}
	return nil
}

// at runs one call on a name below the directory and wraps its error.
func (d *Dir) at(op, untrustedName string, call func(fd int) error) error {
	fd, err := d.acquire(op)
	if err != nil {
		return err
	}
	defer d.release()
	return d.held(fd, op, untrustedName, call)
}

// held is at for a caller that has acquired the descriptor for several calls,
// which a Close in between must not part.
func (d *Dir) held(fd int, op, untrustedName string, call func(fd int) error) error {
	if err := checkName(untrustedName); err != nil {
		return pathError(op, d.join(untrustedName), err)
	}
	return pathError(op, d.join(untrustedName), retry(func() error { return call(fd) }))
}

// Sub opens a directory below this one. A link is refused with ErrNotRegular,
// as is anything else that is no directory.
func (d *Dir) Sub(untrustedName string) (sub *Dir, err error) {
	err = d.at("open", untrustedName, func(fd int) error {
		n, err := openBelow(fd, untrustedName, dirFlags|unix.O_NOFOLLOW, 0)
		if err != nil {
			return notDirectory(err)
		}
		sub = &Dir{fd: n, name: d.join(untrustedName)}
		return nil
	})
	return sub, err
}

// Mkdir opens the directory of that name and makes it first where nothing is.
// A file or link that stands in its place is removed: it can only have been
// planted there.
func (d *Dir) Mkdir(untrustedName string) (*Dir, error) {
	// Each round loses only against somebody who swaps the name in between; a
	// session that wins three times in a row gets the error it asked for.
	var sub *Dir
	var err error
	for range 3 {
		err = d.at("mkdir", untrustedName, func(fd int) error {
			return unix.Mkdirat(fd, untrustedName, 0o777)
		})
		if err != nil && !isExist(err) {
			return nil, err
		}
		if sub, err = d.Sub(untrustedName); err == nil {
			return sub, nil
		}
		d.Remove(untrustedName)
	}
	return nil, err
}

// SubPath walks down a relative path, part by part and without following links.
// With create, directories that are missing are made, as Mkdir does. The path ""
// is the directory itself, opened once more.
func (d *Dir) SubPath(untrustedPath string, create bool) (*Dir, error) {
	dir, err := d.reopen()
	if err != nil {
		return nil, err
	}
	if untrustedPath == "" {
		return dir, nil
	}
	for part := range strings.SplitSeq(untrustedPath, "/") {
		step := dir.Sub
		if create {
			step = dir.Mkdir
		}
		next, err := step(part)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// reopen gives a second descriptor of the same directory with an offset of its
// own, which reading a directory needs.
func (d *Dir) reopen() (*Dir, error) {
	fd, err := d.acquire("open")
	if err != nil {
		return nil, err
	}
	defer d.release()
	return openAt(fd, ".", d.name, dirFlags)
}
