package dirfd

import (
	"os"

	"golang.org/x/sys/unix"
)

// TerminalSize returns how many columns and lines a terminal has, and false for a file
// that is no terminal. A terminal that does not know its size has 0 of both.
func TerminalSize(f *os.File) (columns, lines int, ok bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var size *unix.Winsize
	var failed error
	if err := raw.Control(func(fd uintptr) { size, failed = unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ) }); err != nil || failed != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}
