package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A step of a run can fail for reasons that pass: a disk is full, a filesystem is
// away, a process was killed. It is taken again, after a pause that grows, and a
// step that has failed often enough ends the run as stuck, with the reason. The
// scheduler's own troubles never do, nor do those of a disk: a cluster may be down
// for a day, and a full disk waits for somebody to come in on Monday.

// maxAttempts is how often a step is taken that fails. What fails three times over
// needs somebody to look at it, who can then [Engine.Retry].
const maxAttempts = 3

// pauseAfter is how long a run is left alone after its n-th failure in a row. The
// first one is a process that was killed, more often than not.
func pauseAfter(n int) time.Duration {
	pauses := [...]time.Duration{0, 0, 10 * time.Second}
	return pauses[min(n, len(pauses)-1)]
}

// trouble keeps why a step failed, and when it is to be taken again. The state
// stays, so that it is the same step. It returns an error only where even that
// could not be saved.
func (e *Engine) trouble(ctx context.Context, r *Run, why error) error {
	if r.State == Ended {
		return nil
	}
	// Whatever process wanted to take the step, another one will.
	if r.State == Ready || r.State == Parked {
		r.Wake = Submission{}
	}
	r.LastError = why.Error()
	if _, ok := errors.AsType[*schedulerError](why); ok {
		r.NotBefore = e.Now().UTC().Add(schedulerPause)
		return r.save()
	}
	if passing(why) {
		e.Log.Warn("a step waits for the disk", "run", r.ID, "leg", r.Leg, "state", r.State, "error", why)
		r.NotBefore = e.Now().UTC().Add(diskPause)
		return r.save()
	}
	r.Attempts++
	step := r.step() // abandon changes the state
	e.Log.Error("a step failed", "run", r.ID, "leg", r.Leg, "state", r.State, "attempt", r.Attempts, "error", why)
	if r.Attempts >= maxAttempts {
		return e.abandon(ctx, r, Stuck, "%s failed %d times; the last time: %v", step, r.Attempts, why)
	}
	r.NotBefore = e.Now().UTC().Add(pauseAfter(r.Attempts))
	return r.save()
}

// step is what the run was at, for an operator to read.
func (r *Run) step() string {
	switch r.State {
	case Parking:
		return fmt.Sprintf("sending in the jobs of sleep %d", r.Sleeps)
	case Running:
		return fmt.Sprintf("carrying out what leg %d has asked for", r.Leg)
	case Parked:
		return fmt.Sprintf("waking for leg %d", r.Leg)
	}
	return fmt.Sprintf("starting leg %d", r.Leg)
}

// schedulerPause is how long a run waits that the scheduler would not answer for.
const schedulerPause = 5 * time.Second

// diskPause is how long a run waits whose disk is full, away or not to be written.
const diskPause = time.Minute

// schedulerError says that the scheduler could not be asked. Nothing follows from
// it about any job.
type schedulerError struct{ err error }

func (e *schedulerError) Error() string { return "the scheduler: " + e.err.Error() }
func (e *schedulerError) Unwrap() error { return e.err }

// retryLeg lets a leg start once more, with the same prompt, whose author was
// ended by somebody else than itself, unless that has happened too often.
func (e *Engine) retryLeg(ctx context.Context, r *Run) error {
	attempts := r.Attempts + 1
	if attempts >= maxAttempts {
		return e.abandon(ctx, r, Stuck, "leg %d was ended %d times before its %s had committed a request", r.Leg, attempts, r.Role())
	}
	r.NotBefore = e.Now().UTC().Add(pauseAfter(attempts))
	return r.ready(r.Leg, attempts)
}

// abandon ends a run that may have jobs in the queue.
func (e *Engine) abandon(ctx context.Context, r *Run, outcome Outcome, reason string, args ...any) error {
	if err := e.cancelSleep(ctx, r); err != nil {
		return err
	}
	return r.end(outcome, e.Now().UTC(), reason, args...)
}
