package crash

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filtered replaces the process by the command in args, of which, and of all that it
// starts, the supervisor sees every system call that may change a file. All others run
// at full speed.
func filtered(args []string) error {
	runtime.LockOSThread()
	// Without it a filter is for root alone, and with it no program gains a privilege.
	if os.Getuid() != 0 {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("giving up new privileges: %w", err)
		}
	}
	program := filter()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("installing the filter: %w", err)
	}
	return &os.PathError{Op: "exec", Path: args[0], Err: syscall.Exec(args[0], args, os.Environ())}
}

// filter is a program that stops the calls of operations, and of open(2) those that
// may make a file or empty one.
func filter() []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		skip    = unix.BPF_JMP | unix.BPF_JA
		verdict = unix.BPF_RET | unix.BPF_K

		number   = 0 // of struct seccomp_data
		argument = 16
	)
	program := []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, Jt: 2, K: unix.SYS_OPENAT},
		{Code: equal, Jt: 3, K: unix.SYS_OPEN},
		{Code: skip, K: 4},
		{Code: load, K: argument + 2*8},
		{Code: skip, K: 1},
		{Code: load, K: argument + 1*8},
		{Code: anyBit, Jt: 1, K: unix.O_CREAT | unix.O_TRUNC},
		{Code: verdict, K: unix.SECCOMP_RET_ALLOW},
		{Code: verdict, K: unix.SECCOMP_RET_TRACE},
	}
	// The jump over both verdicts leads here.
	program[3].K = uint32(len(program) - 4)
	program[7].Jt = 1
	for nr := range operations() {
		program = append(program,
			unix.SockFilter{Code: equal, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: verdict, K: unix.SECCOMP_RET_TRACE})
	}
	return append(program, unix.SockFilter{Code: verdict, K: unix.SECCOMP_RET_ALLOW})
}
