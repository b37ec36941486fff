package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// DefaultGrace is the time between SIGTERM and SIGKILL where a caller gives
// none: enough to write a checkpoint, and half of what schedulers wait
// themselves (Slurm's KillWait is 30 s).
const DefaultGrace = 15 * time.Second

// ErrSetup means that the command was never started, because the sandbox could
// not be set up. Its standard error has the reason in bwrap's words.
var ErrSetup = errors.New("the sandbox could not be set up")

// ErrOutput means that the command ran to the end that the Result describes,
// and that its output could not be kept in full.
var ErrOutput = errors.New("the output could not be written")

// Command is a command with everything it needs to run. [Kind.Command] makes
// it, and Run may be called any number of times, also at the same time, except
// that Spec.Temp and the workspace are then shared.
type Command struct {
	program string
	argv    []string
	env     []string
	dir     string

	bwrap         bool
	passwd, group string
}

// Limits bounds a run. The zero value of a field is its default.
type Limits struct {
	Walltime time.Duration // then SIGTERM to the whole group; 0 for none
	Grace    time.Duration // then SIGKILL; 0 for [DefaultGrace]
	Output   int64         // bytes kept of each output stream; 0 for [DefaultOutput]
}

// Cause says what ended a command.
type Cause int

const (
	Exited   Cause = iota // the command itself, by exit or by a signal of its own or of a stranger
	Walltime              // Limits.Walltime was over
	Canceled              // the context ended
)

// Result is how a command ended.
type Result struct {
	// Code is the exit status, and 128 and the signal's number for a command
	// that died of a signal, as a shell would say.
	Code  int
	Cause Cause
}

// Run runs the command and returns when it has ended and its output is written.
//
// When the walltime is over or the context ends, every process of the command's
// group gets SIGTERM, and SIGKILL after the grace. A SIGTERM that is sent
// within the first milliseconds, before bwrap has handed over to the command,
// is lost, and the SIGKILL follows. When the command ends by itself, what it
// left running in its group, and everything in its sandbox, gets SIGKILL.
//
// Any error but ErrOutput means that there is no result, most often since the
// command never ran; see ErrSetup.
func (c *Command) Run(ctx context.Context, std Stdio, limits Limits) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	p, err := c.prepare(std, limits)
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	started := make(chan error)
	ended := make(chan ending, 1)
	go func() {
		// The signal that tells a child of its parent's death is sent when the
		// thread ends that made the child, see prctl(2). This one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.start(c)
		started <- err
		if err == nil {
			ended <- p.wait()
		}
	}()
	if err := <-started; err != nil {
		return Result{}, fmt.Errorf("start %s: %w", c.program, err)
	}
	end, cause := p.supervise(ctx, limits, ended)
	return c.result(p, end, cause)
}

// supervise waits for the end, and brings it about when it is due.
func (p *process) supervise(ctx context.Context, limits Limits, ended <-chan ending) (ending, Cause) {
	var walltime <-chan time.Time
	if limits.Walltime > 0 {
		timer := time.NewTimer(limits.Walltime)
		defer timer.Stop()
		walltime = timer.C
	}
	cause := Exited
	select {
	case end := <-ended:
		return end, cause
	case <-walltime:
		cause = Walltime
	case <-ctx.Done():
		cause = Canceled
	}
	p.signal(syscall.SIGTERM)
	grace := limits.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case end := <-ended:
		return end, cause
	case <-timer.C:
		p.signal(syscall.SIGKILL)
		return <-ended, cause
	}
}

// result turns what the processes left behind into the caller's answer.
func (c *Command) result(p *process, end ending, cause Cause) (Result, error) {
	if end.err != nil {
		return Result{}, fmt.Errorf("wait for %s: %w", c.program, end.err)
	}
	outputErr := p.finishOutput()
	code := end.status.ExitStatus()
	if end.status.Signaled() {
		code = 128 + int(end.status.Signal())
	}
	// bwrap exits with 1 when a mount failed, and so do many commands. Only its
	// status report tells the two apart.
	if c.bwrap && cause == Exited && end.status.Exited() && !p.report.finished {
		return Result{}, fmt.Errorf("%w: bwrap exit status %d", ErrSetup, code)
	}
	if outputErr != nil {
		return Result{Code: code, Cause: cause}, fmt.Errorf("%w: %w", ErrOutput, outputErr)
	}
	return Result{Code: code, Cause: cause}, nil
}

// ending is what wait(2) said.
type ending struct {
	status syscall.WaitStatus
	err    error
}

func waitStatus(state *os.ProcessState, err error) ending {
	if err != nil {
		return ending{err: err}
	}
	return ending{status: state.Sys().(syscall.WaitStatus)}
}
