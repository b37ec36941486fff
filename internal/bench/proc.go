package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// procStat returns the ticks of user and system time of a process; see
// proc_pid_stat(5).
func procStat(pid int) (ticks [2]int64, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ticks, err
	}
	// The name is in parentheses and may hold anything.
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 13 {
		return ticks, errors.New("/proc has an unknown form")
	}
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return ticks, err
		}
	}
	return ticks, nil
}

// resident is the memory that a process has, in bytes.
func resident(pid int) (int64, error) {
	kb, err := statusField(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	return kb << 10, err
}

// wakeUps counts how often the threads of a process went to sleep by themselves.
// While it stays the same none of them has made a system call.
func wakeUps(pid int) (sum int64, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, err
	}
	for _, task := range tasks {
		n, err := statusField(task, "voluntary_ctxt_switches:")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// descriptors counts the open files of a process.
func descriptors(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err
}

func statusField(path, key string) (int64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, key)
}
