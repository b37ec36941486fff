package dirfd

import (
	"os"

	"golang.org/x/sys/unix"
)

// HideInput stops a terminal from showing what is typed, until restore is called.
func HideInput(f *os.File) (restore func(), err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var before *unix.Termios
	set := func(t *unix.Termios) (failed error) {
		if err := raw.Control(func(fd uintptr) { failed = unix.IoctlSetTermios(int(fd), setTermios, t) }); err != nil {
			return err
		}
		return failed
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { before, failed = unix.IoctlGetTermios(int(fd), getTermios) }); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, os.NewSyscallError("reading how the terminal behaves", failed)
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ECHONL
	if err := set(&hidden); err != nil {
		return nil, os.NewSyscallError("setting how the terminal behaves", err)
	}
	return func() { set(before) }, nil
}
