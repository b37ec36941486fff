//go:build !linux

package dirfd

import (
	"errors"
	"time"
)

// Waiter exists where inotify does not so that callers need no build tags.
type Waiter struct{}

// NewWaiter fails: callers poll.
func NewWaiter(d *Dir) (*Waiter, error) {
	return nil, pathError("watch", d.name, errors.ErrUnsupported)
}

// Close does nothing.
func (w *Waiter) Close() error { return nil }

// Wait fails: there is nothing to wait for.
func (w *Waiter) Wait(ctx Canceler, name string, until time.Time) error {
	return errors.ErrUnsupported
}

// Pause sleeps for some microseconds.
func Pause(d time.Duration) { time.Sleep(d) }
