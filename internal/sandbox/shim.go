package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// The two things that [Shim] does.
const (
	shield  = "shield"  // outside, before bwrap
	release = "release" // inside, before the command
)

// Exit statuses for a command that could not be run, as POSIX shells have them.
const (
	notExecutable = 126
	notFound      = 127
)

// Shim replaces the process by the command in args, with SIGTERM ignored or set
// back to its default; the package documentation says why. A program that is
// named in [Spec].Shim calls it first of all, with what follows that prefix.
// It returns only when that failed, with the status to exit with; stderr has
// been told.
func Shim(args []string, stderr io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(stderr, "sandbox: shim: it takes a mode and a command")
		return 2
	}
	switch args[0] {
	case shield:
		// An ignored signal stays ignored through exec(2).
		signal.Ignore(syscall.SIGTERM)
	case release:
		// A handled signal is reset to its default by exec(2), and a Go
		// program cannot set the default itself.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	default:
		fmt.Fprintf(stderr, "sandbox: shim: no mode %q\n", args[0])
		return 2
	}
	program, err := exec.LookPath(args[1])
	if err == nil {
		err = syscall.Exec(program, args[1:], os.Environ())
	}
	fmt.Fprintf(stderr, "sandbox: cannot run %s: %v\n", args[1], err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return notFound
	}
	return notExecutable
}
