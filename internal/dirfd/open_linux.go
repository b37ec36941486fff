package dirfd

import "golang.org/x/sys/unix"

// openBelow opens a single component below a directory, with flags that hold O_NOFOLLOW.
// The kernel is told the whole rule: nothing that leaves the directory, and no link, of
// whatever kind (openat2(2), Linux 5.6). A kernel that does not have the call, or a
// container that forbids it, gets the same answer from openat(2): of one component
// without a slash there is nothing to follow but the component itself.
//
// Nothing is kept of which of the two it was, so that a process which may call it later,
// or no more, is none the worse; a call that fails takes less than a microsecond.
func openBelow(fd int, untrustedName string, flags int, mode uint32) (int, error) {
	if flags&unix.O_CREAT == 0 {
		mode = 0
	}
	n, err := unix.Openat2(fd, untrustedName, &unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch err {
	// Forbidden calls are EPERM in older containers. A file that somebody moves out of the
	// directory between its look-up and its opening is EXDEV: it has escaped, and no look-up.
	case unix.ENOSYS, unix.EPERM, unix.EAGAIN, unix.EXDEV:
		return unix.Openat(fd, untrustedName, flags|unix.O_CLOEXEC, mode)
	}
	return n, err
}
