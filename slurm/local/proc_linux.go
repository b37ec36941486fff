package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// descriptorDir lists the open descriptors of the process that reads it.
const descriptorDir = "/proc/self/fd"

// proc is what /proc/<pid>/stat says of a process; see proc(5).
type proc struct {
	pid, parent, session int
	state                byte
	start                uint64 // clock ticks since boot
}

func readProc(pid int) (proc, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// ESRCH: the process went between open and read.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return proc{}, fmt.Errorf("process %d: %w", pid, errGone)
	}
	if err != nil {
		return proc{}, err
	}
	return parseStat(pid, data)
}

// parseStat reads from the last bracket on: the name before it is the process's
// own choice and may hold brackets, spaces and numbers.
func parseStat(pid int, data []byte) (proc, error) {
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const (
		state   = 0 // the third field is the first one after the name
		parent  = 4 - 3
		session = 6 - 3
		start   = 22 - 3
	)
	if len(fields) <= start {
		return proc{}, fmt.Errorf("/proc/%d/stat has only %d fields after the name", pid, len(fields))
	}
	p := proc{pid: pid, state: fields[state][0]}
	var err [3]error
	p.parent, err[0] = strconv.Atoi(string(fields[parent]))
	p.session, err[1] = strconv.Atoi(string(fields[session]))
	p.start, err[2] = strconv.ParseUint(string(fields[start]), 10, 64)
	if err := errors.Join(err[:]...); err != nil {
		return proc{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return p, nil
}

// dead: a zombie (Z) or one that is being torn down (X) runs no more code.
func (p proc) dead() bool { return p.state == 'Z' || p.state == 'X' || p.state == 'x' }

func identify(pid int) (identity, error) {
	p, err := readProc(pid)
	if err != nil {
		return identity{}, err
	}
	if p.dead() {
		return identity{}, fmt.Errorf("process %d: %w", pid, errGone)
	}
	boot, err := bootID()
	if err != nil {
		return identity{}, err
	}
	return identity{PID: pid, Start: strconv.FormatUint(p.start, 10), Boot: boot}, nil
}

// bootID is "" on a system that does not tell, as sandboxed kernels may not. A
// start time then has to be enough.
func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(bytes.TrimSpace(data)), err
}

// listProcs returns the processes that run, as far as they can be seen.
func listProcs() ([]proc, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var procs []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProc(pid); err == nil {
			procs = append(procs, p)
		}
	}
	return procs, nil
}
