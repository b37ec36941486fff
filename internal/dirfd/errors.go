package dirfd

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Errors of this package. They come wrapped in an *fs.PathError that names the
// file and what was being done to it.
var (
	// ErrNotRegular: what stands under the name is a link, a directory, a FIFO,
	// a socket or a device, or a file with further hard links, which may be a
	// victim's.
	ErrNotRegular = errors.New("not a regular file of its own")
	// ErrTooLarge: the content is larger than the bound that was given.
	ErrTooLarge = errors.New("too large")
	// ErrBadName: not a single path component.
	ErrBadName = errors.New("not a plain file name")
	// ErrLocked: another process held the lock until the context ended.
	ErrLocked = errors.New("locked by another process")
)

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// notRegular turns the errnos that an open gives for things that are no regular
// file into ErrNotRegular: ELOOP for a link (EMLINK on some systems), ENXIO for
// a socket or a FIFO without a reader, EISDIR and ENOTDIR for the wrong kind.
func notRegular(err error) error {
	switch err {
	case syscall.ELOOP, syscall.EMLINK, syscall.ENXIO, syscall.EISDIR, syscall.ENOTDIR, unix.EOPNOTSUPP:
		return ErrNotRegular
	}
	return err
}

// notDirectory is notRegular where a directory was wanted. Callers find the same
// ErrNotRegular, people read what is wrong.
func notDirectory(err error) error {
	if notRegular(err) == ErrNotRegular {
		return errNotDirectory{}
	}
	return err
}

type errNotDirectory struct{}

func (errNotDirectory) Error() string        { return "not a directory of its own" }
func (errNotDirectory) Is(target error) bool { return target == ErrNotRegular }

// retry repeats a call that a signal interrupted. The Go runtime's own
// preemption signals make EINTR an everyday answer on slow filesystems.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func retryFD(call func() (int, error)) (fd int, err error) {
	err = retry(func() error {
		fd, err = call()
		return err
	})
	return fd, err
}
