package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plan is what a supervisor is told: the commands of a life, one after the other, and
// what to do at which of the operations below the root.
type plan struct {
	Root     string
	Commands [][]string
	Env      []string
	Log      string // takes what the commands print
	Aim      aim
	Patience time.Duration // for each command
}

// aim is the n-th operation of one kind that an actor makes, counted from 1. The zero
// value is never reached.
type aim struct {
	Actor, Kind string
	N           int
	Errno       syscall.Errno // what the operation fails with; 0 to kill the actor instead
	Times       int           // that many operations of the actor from there on, where they fail
	Short       bool          // half of a write gets through
}

func (a aim) String() string { return fmt.Sprintf("%s/%s/%d", a.Actor, a.Kind, a.N) }

// point is an operation of an actor.
type point struct{ Actor, Kind, File string }

// report is what the supervisor has seen.
type report struct {
	Points []point
	Hit    string   // the file of the aim, "" where it was not reached
	Left   []string // processes that did not end by themselves
	Failed []string // commands that did
	Error  string
}

// supervise runs the life that is planned on standard input, and reports on standard
// output.
func supervise() int {
	s := &supervisor{known: map[int]bool{}, counts: map[[2]string]int{}}
	if err := json.NewDecoder(os.Stdin).Decode(&s.plan); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	// All of ptrace(2) is for the one thread that traces.
	runtime.LockOSThread()
	for _, command := range s.plan.Commands {
		if err := s.run(command); err != nil {
			s.report.Error = err.Error()
			break
		}
	}
	s.rest()
	if err := json.NewEncoder(os.Stdout).Encode(s.report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type supervisor struct {
	plan   plan
	report report
	known  map[int]bool // threads
	counts map[[2]string]int
	fails  int // operations that are still to fail
	killed int // the process that was, 0 for none
}

// run runs a command to its end, and anew where it was killed at the aim.
func (s *supervisor) run(command []string) error {
	for {
		pid, err := s.start(command)
		if err != nil {
			return fmt.Errorf("starting %s: %w", command, err)
		}
		timer := time.AfterFunc(s.plan.Patience, func() { syscall.Kill(pid, syscall.SIGKILL) })
		status, err := s.until(pid)
		inTime := timer.Stop()
		switch {
		case err != nil:
			return err
		case !inTime:
			return fmt.Errorf("%s did not end within %s", command, s.plan.Patience)
		case pid == s.killed:
			s.killed = 0 // a number may come again
			continue
		case status.ExitStatus() != 0:
			s.report.Failed = append(s.report.Failed, fmt.Sprintf("%s: %#x", command, status))
		}
		return nil
	}
}

// start starts a command that is traced, and everything that it will start.
func (s *supervisor) start(command []string) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	log, err := os.OpenFile(s.plan.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	pid, err = syscall.ForkExec(self, append([]string{filteredName}, command...), &syscall.ProcAttr{
		Env:   s.plan.Env,
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return 0, err
	}
	s.known[pid] = true
	const options = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL
	return pid, errors.Join(unix.PtraceSetOptions(pid, options), unix.PtraceCont(pid, 0))
}

// until takes every event until a process has ended.
func (s *supervisor) until(pid int) (syscall.WaitStatus, error) {
	for {
		tid, status, err := s.event(0)
		if err != nil || tid == pid && (status.Exited() || status.Signaled()) {
			return status, err
		}
	}
}

// event waits for one event and lets the thread go on.
func (s *supervisor) event(how int) (tid int, status syscall.WaitStatus, err error) {
	for {
		tid, err = syscall.Wait4(-1, &status, how|unix.WALL, nil)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil || tid == 0 {
		return tid, status, err
	}
	if !status.Stopped() {
		delete(s.known, tid)
		return tid, status, nil
	}
	signal := 0
	switch {
	case status.StopSignal() == syscall.SIGTRAP && int(status)>>16 == unix.PTRACE_EVENT_SECCOMP:
		s.operation(tid)
	case status.StopSignal() == syscall.SIGTRAP && int(status)>>16 != 0:
	case status.StopSignal() == syscall.SIGSTOP && !s.known[tid]: // how a new thread begins
	default:
		signal = int(status.StopSignal())
	}
	s.known[tid] = true
	// It may have been killed by now, which the next event says.
	if err := unix.PtraceCont(tid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return tid, status, fmt.Errorf("letting %d go on: %w", tid, err)
	}
	return tid, status, nil
}

// operation counts what a thread is about to do, and strikes where that is the aim.
func (s *supervisor) operation(tid int) {
	c, err := callOf(tid)
	if err != nil {
		return // killed meanwhile
	}
	kind, file, ok := c.point(s.plan.Root)
	if !ok {
		return
	}
	pid, actor := actorOf(tid)
	if actor == "" {
		return
	}
	s.report.Points = append(s.report.Points, point{actor, kind, file})
	s.counts[[2]string{actor, kind}]++
	a := s.plan.Aim
	if actor != a.Actor {
		return
	}
	if kind == a.Kind && s.counts[[2]string{actor, kind}] == a.N {
		s.report.Hit = file
		if a.Errno == 0 && !a.Short {
			s.killed = pid
			syscall.Kill(pid, syscall.SIGKILL)
			return
		}
		s.fails = max(a.Times, 1)
	}
	if s.fails > 0 && kind != flock {
		s.fails--
		c.fail(a)
	}
}

// fail makes the call fail without being made, or has it do half of its work.
func (c call) fail(a aim) {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(c.tid, &regs) != nil {
		return
	}
	if a.Short {
		regs.Rdx = (regs.Rdx + 1) / 2
	} else {
		regs.Orig_rax = ^uint64(0)
		regs.Rax = -uint64(a.Errno)
	}
	unix.PtraceSetRegs(c.tid, &regs)
}

// rest waits for the processes that live longer than the commands, and ends those that
// do not end.
func (s *supervisor) rest() {
	deadline := time.Now().Add(20 * time.Second)
	for {
		tid, _, err := s.event(unix.WNOHANG)
		if errors.Is(err, syscall.ECHILD) {
			return
		}
		if tid != 0 {
			continue
		}
		if time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for tid := range s.known {
		if pid := tgid(tid); pid == tid {
			s.report.Left = append(s.report.Left, strings.Join(words(pid), " "))
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// actorOf says which process of the kernel's a thread works for: its own, or the one
// that has called git. Others are the author's and its jobs'.
func actorOf(tid int) (pid int, actor string) {
	for pid = tgid(tid); pid > 1; pid = parent(pid) {
		args := words(pid)
		if len(args) == 0 {
			return 0, ""
		}
		switch filepath.Base(args[0]) {
		case "outerloop-tick":
			if len(args) < 2 {
				return pid, "tick"
			}
			if actor, isFlag := strings.CutPrefix(args[1], "--"); !isFlag || actor == "loop" {
				return pid, actor
			}
			return pid, "tick"
		case "git":
			continue
		}
		return 0, ""
	}
	return 0, ""
}

// words is the command line of a process.
func words(pid int) []string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if len(raw) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

func tgid(tid int) int   { return status(tid, "\nTgid:") }
func parent(pid int) int { return status(pid, "\nPPid:") }

// status reads a number from a file of proc(5).
func status(pid int, field string) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(raw), field)
	line, _, _ := strings.Cut(after, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}
