//go:build linux

package attack

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// Exchange swaps what two names stand for, in one step (renameat2(2) with
// RENAME_EXCHANGE).
func Exchange(a, b string) error {
	from, err := syscall.BytePtrFromString(a)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(b)
	if err != nil {
		return err
	}
	const (
		exchange = 2
		cwd      = -100
	)
	here := cwd // a variable, since the constant does not fit a uintptr
	_, _, errno := syscall.Syscall6(renameat2(), uintptr(here), uintptr(unsafe.Pointer(from)),
		uintptr(here), uintptr(unsafe.Pointer(to)), exchange, 0)
	if errno != 0 {
		return &os.LinkError{Op: "renameat2", Old: a, New: b, Err: errno}
	}
	return nil
}

// renameat2 is the number of the system call, spelled out because the syscall
// package is older than it and x/sys/unix belongs to internal/dirfd alone.
func renameat2() uintptr {
	if runtime.GOARCH == "amd64" {
		return 316
	}
	return 276 // of the generic table: arm64, riscv64, loong64
}

// Loop calls do again and again until stop is called, which returns how often.
func Loop(t testing.TB, do func()) (stop func() int) {
	quit, rounds := make(chan struct{}), make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				rounds <- n
				return
			default:
				do()
			}
		}
	}()
	stopped := false
	n := 0
	stop = func() int {
		if !stopped {
			stopped = true
			close(quit)
			n = <-rounds
		}
		return n
	}
	t.Cleanup(func() { stop() })
	return stop
}
