package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// openFiles lists the descriptors of the process that reads it.
const openFiles = "/proc/self/fd"

// sysProcAttr makes a group of its own and ties the child's life to ours. What is
// in bwrap gets a session without a terminal besides. What is in nothing stays in
// the session of its caller, a job of the scheduler without a terminal either: by
// that the scheduler finds what is left when the caller was killed.
func sysProcAttr(bwrap bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: bwrap, Setpgid: !bwrap, Pdeathsig: syscall.SIGKILL}
}

// waitNoReap returns when the child has ended, and leaves it a zombie.
func waitNoReap(pid int) error {
	const (
		byPID   = 1         // P_PID of waitid(2)
		exited  = 0x4       // WEXITED
		noReap  = 0x1000000 // WNOWAIT
		siginfo = 128       // bytes of a siginfo_t
	)
	var info [siginfo / 8]uint64
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), exited|noReap, 0, 0)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return os.NewSyscallError("waitid", errno)
		}
	}
}

// awaitExit returns when the first process of a pid namespace, no child of
// ours, has ended, and with it the whole namespace: it becomes a zombie only
// after the kernel has seen the last of the others die. They have been killed,
// so this takes moments; a process that hangs in a system call is not waited
// for any longer than two seconds.
func awaitExit(pid int) {
	for pause := time.Millisecond; pause < 2*time.Second; pause *= 2 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return
		}
		// The name before the state, in parentheses, may contain anything.
		after := stat[bytes.LastIndexByte(stat, ')')+1:]
		if len(after) > 1 && (after[1] == 'Z' || after[1] == 'X') {
			return
		}
		time.Sleep(pause)
	}
}
