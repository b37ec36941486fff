package bench

import "syscall"

// Descriptors of the kernel of a fleet: those of each channel, and the rest.
const (
	perChannel = 1
	besides    = 200
)

// channelsUpTo is n, or fewer where a process may not have so many files open
// (ulimit -Hn). The soft limit is raised for the children; the Go runtime would
// hand them the one that this process was started with.
func channelsUpTo(n int) (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return int(min(uint64(n), (uint64(limit.Max)-besides)/perChannel)), nil
}
