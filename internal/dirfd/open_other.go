//go:build !linux

package dirfd

import "golang.org/x/sys/unix"

// openBelow opens a single component below a directory, with flags that hold O_NOFOLLOW.
func openBelow(fd int, untrustedName string, flags int, mode uint32) (int, error) {
	return unix.Openat(fd, untrustedName, flags|unix.O_CLOEXEC, mode)
}
