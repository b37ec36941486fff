//go:build !linux

package dirfd

import "golang.org/x/sys/unix"

// The requests that read and set how a terminal behaves (tty(4) of the BSDs).
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
