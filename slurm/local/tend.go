package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// tend runs the command of the task and everything it starts, to the very end.
func (s *shepherd) tend(j *job) endRecord {
	out, err := openOutput(j, s.index)
	if err != nil {
		s.log.Error("The output file cannot be opened", "err", err)
		return endRecord{State: slurm.Failed}
	}
	defer out.Close()
	command, err := startCommand(j, s.index, out)
	if err != nil {
		// Where its author will look for it.
		fmt.Fprintf(out, "job %s could not be started: %v\n", j.taskID(s.index), err)
		s.log.Error("The command cannot be started", "err", err)
		return endRecord{State: slurm.Failed}
	}
	ended := watch(command)
	end, over := s.await(ended, j.Walltime)
	if !over {
		s.signal(command, syscall.SIGTERM)
		s.waitEmpty(command, j.Grace)
	}
	s.sweep(command)
	return end
}

// await returns how the task ended, or with over false how it is going to.
func (s *shepherd) await(ended <-chan syscall.WaitStatus, walltime time.Duration) (end endRecord, over bool) {
	limit := time.NewTimer(walltime)
	defer limit.Stop()
	for {
		select {
		case status := <-ended:
			return verdict(status), true
		case <-limit.C:
			end.State = slurm.Timeout
		case sig := <-s.signals:
			switch sig {
			case cancelSignal:
				end.State = slurm.Cancelled
			case syscall.SIGTERM, syscall.SIGINT:
				end.State = slurm.NodeFail
			default:
				continue
			}
		}
		// Where both happened at once, the command was the first.
		select {
		case status := <-ended:
			return verdict(status), true
		default:
			return end, false
		}
	}
}

// verdict judges a command that ended by itself. One that a signal ended has no
// exit code, whatever a shell would make of it: 137 is for a command to return.
func verdict(status syscall.WaitStatus) endRecord {
	if !status.Exited() {
		return endRecord{State: slurm.Failed}
	}
	code := status.ExitStatus()
	if code != 0 {
		return endRecord{State: slurm.Failed, ExitCode: &code}
	}
	return endRecord{State: slurm.Completed, ExitCode: &code}
}

// waitEmpty waits for the end of all processes of the task, and not of the command
// alone: a shell ends at once, while the program it called still saves its work.
func (s *shepherd) waitEmpty(command int, grace time.Duration) {
	const pause = 20 * time.Millisecond
	for deadline := time.Now().Add(grace); s.signal(command, 0) > 0; {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		time.Sleep(min(left, pause))
	}
}

// sweep kills what is left of the task and returns when nothing is. It looks
// again and again, for a process may fork between the look and the signal.
func (s *shepherd) sweep(command int) {
	const tries = 500 // 10 ms apart
	for range tries {
		if s.signal(command, syscall.SIGKILL) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	// Processes that the system itself holds on to end when it lets go of them.
	s.log.Error("Processes of the task do not end")
}

// signal returns how many processes the task still has, at least 1 where that is
// not known.
func (s *shepherd) signal(command int, sig syscall.Signal) (found int) {
	found, err := s.signalTask(command, sig)
	if err != nil {
		s.log.Error("The task's processes cannot all be signaled", "signal", int(sig), "err", err)
		return max(found, 1)
	}
	return found
}

// watch delivers the end of the command. It waits for every child there is, the
// adopted ones too: an orphan that nobody waits for would stay a zombie until the
// task is over, and a task may make many.
func watch(command int) (ended <-chan syscall.WaitStatus) {
	c := make(chan syscall.WaitStatus, 1)
	go func() {
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, 0, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return // ECHILD: no child is left
			}
			if pid == command {
				c <- status
			}
		}
	}()
	return c
}

// startCommand starts the command and returns its pid. It does not go through
// os/exec, which would want to wait for the command itself.
func startCommand(j *job, i int, out *os.File) (pid int, err error) {
	env := environment(j, i)
	program, err := lookPath(j.Spec.Command[0], env)
	if err != nil {
		return 0, err
	}
	if err := sealDescriptors(); err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	p, err := os.StartProcess(program, j.Spec.Command, &os.ProcAttr{
		Dir:   workDir(j),
		Env:   env,
		Files: []*os.File{null, out, out},
		Sys:   commandAttr(),
	})
	if err != nil {
		// The system's message does not say which of the two is missing.
		return 0, fmt.Errorf("in directory %s: %w", workDir(j), err)
	}
	pid = p.Pid
	return pid, p.Release()
}
