//go:build !linux

package sandbox

import (
	"errors"
	"syscall"
)

const openFiles = "/dev/fd"

// sysProcAttr makes a group of its own. Nothing ties the child's life to ours here.
func sysProcAttr(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func waitNoReap(int) error { return errors.ErrUnsupported }

// awaitExit has nothing to wait for: there are no pid namespaces.
func awaitExit(int) {}
