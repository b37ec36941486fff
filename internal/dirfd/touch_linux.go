package dirfd

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime is futimens(3), which on Linux is utimensat(2) with no path. It needs
// no /proc, which an image FROM scratch does not have.
func setTime(file int, at time.Time) error {
	var times *[2]unix.Timespec
	if !at.IsZero() {
		ts, err := unix.TimeToTimespec(at)
		if err != nil {
			return err
		}
		times = &[2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, ts}
	}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(file), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
