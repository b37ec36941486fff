//go:build !linux

package sandbox

import (
	"errors"
	"syscall"
)

const openFiles = "/dev/fd"

// sysProcAttr makes a session. Nothing ties the child's life to ours here.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func waitNoReap(int) error { return errors.ErrUnsupported }

// awaitExit has nothing to wait for: there are no pid namespaces.
func awaitExit(int) {}
