package local

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER of <linux/prctl.h>, which
// package syscall does not name.
const prSetChildSubreaper = 36

// adoptOrphans makes the calling process the parent of every descendant whose
// own parent ends. None of them can then leave the task, not even by the double
// fork of a daemon.
func adoptOrphans() error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	if errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

// commandAttr puts the command into a process group of its own, in the session
// of its shepherd, and has it killed with the shepherd. The thread that starts
// the command counts as the parent that may die, and has to be locked.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// signalTask sends sig to every process of the calling shepherd's task and says
// how many there were; signal 0 only counts them.
//
// They are the descendants, and what is in the session without being one: where
// orphans could not be adopted, they are to be found there. The shepherds of other
// tasks, with all that is theirs, are not among them. A kernel that runs as a task
// itself, as a leg does, starts shepherds for the jobs that it submits, and those
// have to live on when the leg is over.
func (s *shepherd) signalTask(_ int, sig syscall.Signal) (found int, err error) {
	procs, err := listProcs()
	if err != nil {
		return 0, err
	}
	me := os.Getpid()
	inTask := map[int]bool{me: true}
	others := map[int]bool{}
	// Again until nothing is found: the list need not have parents first.
	for grown := true; grown; {
		grown = false
		for _, p := range procs {
			if inTask[p.pid] || others[p.pid] || !inTask[p.parent] && p.session != me {
				continue
			}
			grown = true
			if p.pid == p.session && s.isShepherd(p.pid) {
				others[p.pid] = true
			} else {
				inTask[p.pid] = true
			}
		}
	}
	delete(inTask, me)
	var errs []error
	for _, p := range procs {
		if inTask[p.pid] && !p.dead() {
			found++
			if sig != 0 {
				errs = append(errs, p.signal(sig))
			}
		}
	}
	return found, errors.Join(errs...)
}

// isShepherd says whether a process was started as the shepherd of a task: its
// last arguments name the task and know the nonce. One that was forked and has not
// come to its arguments yet is taken for a part of the task and killed; it owns
// nothing, so that the next visitor starts it again.
func (s *shepherd) isShepherd(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return false
	}
	args := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	if len(args) < shepherdArgs {
		return false
	}
	other, err := newShepherd(args[len(args)-shepherdArgs:], nil, s.log)
	if err != nil || other.nonce == "" {
		return false
	}
	for _, dir := range []string{s.store.liveDir(other.id), s.store.endedDir(other.id)} {
		j, err := readJob(dir, other.id)
		if err != nil {
			return true // nobody can tell, and what is not known is left alone
		}
		if j != nil {
			return other.index < len(j.Tasks) && j.Tasks[other.index].Nonce == other.nonce
		}
	}
	return false
}

// killSession ends what a shepherd that was killed has left in its session. It
// returns when nothing is left, or with an error after a second.
//
// The session bears the shepherd's pid, and the system gives that number to no
// new process while the session has a member. If the session had emptied, though,
// the number may have gone to a stranger who made it a session again. A stranger
// who lives is seen as the holder of the number, and then there is nothing of ours
// left. One who has left a session and died, all since the last visit, is the one
// case that cannot be told apart.
func killSession(shepherd identity) error {
	const patience = 100 // looks, 10 ms apart
	if boot, err := bootID(); err != nil || boot != shepherd.Boot {
		return err
	}
	started, err := strconv.ParseUint(shepherd.Start, 10, 64)
	if err != nil {
		return fmt.Errorf("start time of process %d: %w", shepherd.PID, err)
	}
	for range patience {
		if holder, err := readProc(shepherd.PID); err == nil && holder.start != started {
			return nil
		}
		procs, err := listProcs()
		if err != nil {
			return err
		}
		left := 0
		for _, p := range procs {
			if p.session == shepherd.PID && p.start >= started && !p.dead() {
				left++
				if err := p.signal(syscall.SIGKILL); err != nil {
					return err
				}
			}
		}
		if left == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("processes of session %d do not end", shepherd.PID)
}

// signal sends sig unless the pid has passed to another process since p was read.
func (p proc) signal(sig syscall.Signal) error {
	h, err := os.FindProcess(p.pid)
	if err != nil {
		return err
	}
	defer h.Release()
	if now, err := readProc(p.pid); err != nil || now.start != p.start {
		return nil
	}
	if err := h.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	}
	return nil
}
