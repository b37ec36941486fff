//go:build unix && !linux

package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// descriptorDir lists the open descriptors of the process that reads it.
const descriptorDir = "/dev/fd"

// identify asks ps(1), which prints the start as a date and so needs no boot to
// count from. Whole seconds are all that it knows.
func identify(pid int) (identity, error) {
	cmd := exec.Command("/bin/ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid))
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, err := cmd.Output()
	state, start, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && state == "" {
		return identity{}, fmt.Errorf("process %d: %w", pid, errGone)
	}
	if err != nil {
		return identity{}, fmt.Errorf("ps -p %d: %w", pid, err)
	}
	if strings.HasPrefix(state, "Z") {
		return identity{}, fmt.Errorf("process %d: %w", pid, errGone)
	}
	return identity{PID: pid, Start: strings.TrimSpace(start)}, nil
}

// adoptOrphans has no counterpart outside Linux: what leaves the process group
// of the command is lost from sight.
func adoptOrphans() error { return nil }

func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// signalTask sends sig to the process group that the command leads, and says
// whether (1) or not (0) there is anybody; signal 0 only asks. The shepherd
// waited for the command a moment ago at most, and until the system has been
// through all its pids the number stays with the group.
func (s *shepherd) signalTask(command int, sig syscall.Signal) (found int, err error) {
	err = syscall.Kill(-command, sig)
	if errors.Is(err, syscall.ESRCH) {
		return 0, nil
	}
	return 1, os.NewSyscallError("kill", err)
}

// killSession cannot tell what a dead shepherd left from anything else here.
func killSession(identity) error { return nil }
