package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// legWait is how long a leg's process waits for the one that queued it, which
// has the run until its last launch is in.
const legWait = 5 * time.Minute

// Leg is the body of the process that starts a leg and stays until it is over:
// it brings back what a sleep has yielded, runs the author, and carries out
// what the author has committed by its end. One that comes for a leg that is
// over or under way returns without doing anything.
//
// When the context ends the author is told to end, and what it has committed
// by then counts.
func (e *Engine) Leg(ctx context.Context, id string, leg int) (err error) {
	r, err := openRun(ctx, e.Root, id, legWait, aLeg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.State == Ended || r.Leg != leg {
		e.Log.Info("this leg is not the run's next; nothing to do", "run", id, "leg", leg, "state", r.State)
		return nil
	}
	if err := e.leg(ctx, r); err != nil {
		return errors.Join(err, e.trouble(ctx, r, err))
	}
	return nil
}

func (e *Engine) leg(ctx context.Context, r *Run) error {
	if err := r.sweep(); err != nil {
		return err
	}
	if r.ending() {
		return e.endRun(ctx, r)
	}
	switch r.State {
	case Running, Parking:
		// A process before this one died in the middle.
		return e.takeOn(ctx, r)
	case Parked:
		if begin, err := e.wake(ctx, r); !begin || err != nil {
			return err
		}
	}
	return e.runLeg(ctx, r)
}

// runLeg runs the author and carries out what it has committed.
func (e *Engine) runLeg(ctx context.Context, r *Run) error {
	if err := r.checkWorkspace(); err != nil {
		return err
	}
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	if err := e.prepareChannel(r, k); err != nil {
		return err
	}
	r.State = Running
	if err := r.save(); err != nil {
		return err
	}
	e.Log.Info("leg begins", "run", r.ID, "leg", r.Leg)
	result, err := e.session(ctx, r, k)
	if err != nil {
		// It did not run, so there is nothing to take: the leg starts anew.
		r.State = Ready
		return fmt.Errorf("running the author: %w", err)
	}
	how := endingOf(result)
	if how.Status == 128+int(syscall.SIGTERM) && toldToEnd(ctx) {
		how.Cause = byKernel
	}
	e.Log.Info("leg is over", "run", r.ID, "leg", r.Leg, "status", how.Status, "cause", how.Cause)
	if err := writeJSON(r.legPath(r.Leg, endedFile), how); err != nil {
		return err
	}
	// The author is gone; what it asked for is carried out also when this
	// process has been told to end.
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), legSlack*time.Minute)
	defer cancel()
	return e.finishLeg(finish, r, k, how)
}

// toldToEnd says whether this process was told to end at about this time. A
// scheduler sends SIGTERM to every process of a job at once, and the author may be
// gone before this one has noticed its own.
func toldToEnd(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(2 * time.Second):
		return false
	}
}

// prepareChannel puts into the channel what the leg begins with and takes out
// what an earlier one has left staged or committed.
func (e *Engine) prepareChannel(r *Run, k *channel.Kernel) error {
	prompt, err := os.ReadFile(r.legPath(r.Leg, "prompt.md"))
	if err != nil {
		return fmt.Errorf("reading the prompt: %w", err)
	}
	task, err := os.ReadFile(r.path("task.md"))
	if err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	if err := errors.Join(
		k.DropStaged(),
		k.DropCommitted(),
		k.WritePrompt(prompt, task),
		r.tellBudget(k),
		e.tellOthers(r, k),
	); err != nil {
		return fmt.Errorf("preparing the channel: %w", err)
	}
	return nil
}

// tellBudget leaves in the channel what is left of the budgets. A judge has none.
func (r *Run) tellBudget(k *channel.Kernel) error {
	if r.Role() == Judge {
		return nil
	}
	return k.WriteBudget(r.channelBudget())
}

// endedFile says how the author of a leg ended. Without it the author did not end
// by itself.
const endedFile = "ended.json"

// ending is what endedFile holds.
type ending struct {
	Status int    `json:"status"` // the exit status, as a shell has it
	Cause  string `json:"cause"`  // what ended it
}

// The causes of an author's end.
const (
	byItself   = "itself"
	byWalltime = "walltime"
	byKernel   = "kernel" // which was told to end, or died
)

func endingOf(r sandbox.Result) ending {
	e := ending{Status: r.Code, Cause: byItself}
	switch r.Cause {
	case sandbox.Walltime:
		e.Cause = byWalltime
	case sandbox.Canceled:
		e.Cause = byKernel
	}
	return e
}

// checkWorkspace sees to it that the workspace is where it was when the run was
// made. Another author's process may have put a link in its path since, if the
// two trees overlap, and the kernel would work wherever that leads.
func (r *Run) checkWorkspace() error {
	now, err := filepath.EvalSymlinks(r.Workspace)
	if err != nil {
		return fmt.Errorf("the workspace: %w", err)
	}
	if now != r.Workspace {
		return fmt.Errorf("the workspace %s now leads to %s", r.Workspace, now)
	}
	return nil
}
