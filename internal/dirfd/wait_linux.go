package dirfd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Waiter tells when a file is put in place in one directory. It serves the
// session's half, one process with one question; the kernel watches with
// fsnotify.
type Waiter struct {
	f   *os.File
	buf [4096]byte
}

// NewWaiter begins to watch: what happens before the first Wait is not missed.
// Where inotify is not to be had, the error says so and the caller polls.
// The watch is placed by path, since there may be no /proc; a session can only
// mislead itself.
func NewWaiter(d *Dir) (*Waiter, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, pathError("inotify_init1", d.name, err)
	}
	// MOVED_TO is a kernel that renames into place, CLOSE_WRITE one that writes
	// in place. More would only wake the session for its own doings.
	if _, err := unix.InotifyAddWatch(fd, d.name, unix.IN_MOVED_TO|unix.IN_CLOSE_WRITE|unix.IN_ONLYDIR); err != nil {
		unix.Close(fd)
		return nil, pathError("inotify_add_watch", d.name, err)
	}
	return &Waiter{f: os.NewFile(uintptr(fd), "inotify")}, nil
}

// Close stops the watch.
func (w *Waiter) Close() error { return w.f.Close() }

// Wait returns when the file of that name may have been put in place, at the
// given time, or when the context ends, whichever comes first. It may return
// early for no reason; callers look again.
func (w *Waiter) Wait(ctx Canceler, name string, until time.Time) error {
	if err := w.f.SetReadDeadline(until); err != nil {
		return err
	}
	returned := make(chan struct{})
	defer close(returned)
	if ctx.Done() != nil {
		go func() {
			select {
			case <-ctx.Done():
				w.f.SetReadDeadline(time.Unix(1, 0))
			case <-returned:
			}
		}()
	}
	for ctx.Err() == nil {
		n, err := w.f.Read(w.buf[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		if names(w.buf[:n], name) {
			return nil
		}
	}
	return nil
}

// names says whether one of the events in buf is about the file. An overflow
// counts: what was dropped may have been it. See inotify(7) for the layout.
func names(buf []byte, name string) bool {
	for len(buf) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(buf[4:])
		size := binary.NativeEndian.Uint32(buf[12:])
		end := unix.SizeofInotifyEvent + int(size)
		if mask&(unix.IN_Q_OVERFLOW|unix.IN_IGNORED) != 0 || end > len(buf) {
			return true
		}
		if string(bytes.TrimRight(buf[unix.SizeofInotifyEvent:end], "\x00")) == name {
			return true
		}
		buf = buf[end:]
	}
	return false
}
