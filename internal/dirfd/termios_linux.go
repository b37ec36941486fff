package dirfd

import "golang.org/x/sys/unix"

// The requests that read and set how a terminal behaves (tty_ioctl(4)).
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
