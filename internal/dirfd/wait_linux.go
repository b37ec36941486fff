package dirfd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Waiter tells when a file is put in place in one directory. It serves the
// session's half, one process with one question; the kernel watches with
// fsnotify.
type Waiter struct {
	fd  int
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
	return &Waiter{fd: fd}, nil
}

// Close stops the watch. No Wait may be under way.
func (w *Waiter) Close() error { return unix.Close(w.fd) }

// Wait returns when the file of that name may have been put in place, at the
// given time, or when the context ends, whichever comes first. It may return
// early for no reason; callers look again.
//
// It sleeps in poll(2) and not in the runtime's poller: a verb has one thing to
// wait for, and to be woken through the scheduler takes about as long as a whole
// question does otherwise.
func (w *Waiter) Wait(ctx Canceler, name string, until time.Time) error {
	fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
	if ctx.Done() != nil {
		end, stop, err := endOf(ctx)
		if err != nil {
			return err
		}
		defer stop()
		fds = append(fds, unix.PollFd{Fd: int32(end), Events: unix.POLLIN})
	}
	for ctx.Err() == nil {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		ts := unix.NsecToTimespec(int64(left))
		n, err := unix.Ppoll(fds, &ts, nil)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return pathError("poll", "inotify", err)
		}
		if fds[0].Revents == 0 {
			continue
		}
		n, err = unix.Read(w.fd, w.buf[:])
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			return pathError("read", "inotify", err)
		}
		if names(w.buf[:n], name) {
			return nil
		}
	}
	return nil
}

// endOf makes a descriptor that can be read once the context has ended.
func endOf(ctx Canceler) (fd int, stop func(), err error) {
	fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return -1, nil, pathError("eventfd", "context", err)
	}
	over, returned := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-ctx.Done():
			unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		case <-returned:
		}
	}()
	return fd, func() {
		close(returned)
		<-over // or it would write to whatever has the number next
		unix.Close(fd)
	}, nil
}

// Pause sleeps for some microseconds. time.Sleep would set up the runtime's
// poller in a verb that needs it for nothing else, and wait for whole
// milliseconds there.
func Pause(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&ts, nil) // a signal ends it early, and callers look again
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
