//go:build !linux

package slurm

import "syscall"

// groupAttr puts a program into a process group of its own, to be killed as a whole.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
