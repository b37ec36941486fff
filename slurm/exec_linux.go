package slurm

import "syscall"

// groupAttr puts a program into a process group of its own, to be killed as a
// whole, and has it killed when its caller dies: an sbatch that outlived the
// process that waits for it would submit a job after everybody had looked whether
// there is one.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
