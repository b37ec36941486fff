//go:build !linux

package dirfd

import (
	"time"

	"golang.org/x/sys/unix"
)

// setTime keeps microseconds: futimes(2) is what these systems offer for a
// descriptor.
func setTime(file int, at time.Time) error {
	if at.IsZero() {
		at = time.Now()
	}
	tv := unix.NsecToTimeval(at.UnixNano())
	return unix.Futimes(file, []unix.Timeval{tv, tv})
}
