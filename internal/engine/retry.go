package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// retryWait is how long Retry waits for a process that still has the run. One that
// has ended is held by nobody for long.
const retryWait = 10 * time.Second

// Retry lets a run that ended as stuck or failed go on where it was, once the
// operator has mended what stood in its way. Its next step is a pass's to take. What
// the author had asked for when the run ended is carried out; a leg that came to
// nothing starts anew, with its prompt; jobs that the end cancelled come back to the
// author as such. Budgets are as they were. It returns what the next step is, for the
// operator. A run that cannot be retried is a *[SettingsError], and left as it is.
func (e *Engine) Retry(ctx context.Context, id string) (next string, err error) {
	r, err := openRun(ctx, e.Root, id, retryWait, operator)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.retryable(); err != nil {
		return "", err
	}
	// A word that came too late to end the run must not end it now.
	if err := os.Remove(filepath.Join(r.dir, endFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("retrying run %s: %w", id, err)
	}
	e.Log.Info("the operator retries the run", "run", id, "leg", r.Leg, "outcome", r.Outcome, "reason", r.Reason)
	return r.revive()
}

// retryable refuses a run that has not ended in a way that can be mended.
func (r *Run) retryable() error {
	switch {
	case r.State != Ended:
		return refuse("outerloop-tick status shows what it waits for", "run %s has not ended", r.ID)
	case r.Outcome != Stuck && r.Outcome != Failed:
		return refuse("make a new one with outerloop-tick new", "run %s ended as %s, and only a stuck or failed run can go on", r.ID, r.Outcome)
	}
	if err := r.checkWorkspace(); err != nil {
		return refuse("put it back, or make a new run with outerloop-tick new", "run %s cannot go on without its workspace: %w", r.ID, err)
	}
	if _, err := os.Lstat(r.sealPath()); r.Sleep != nil && errors.Is(err, fs.ErrNotExist) {
		return refuse("make a new run with outerloop-tick new", "run %s cannot go on: the seals that its jobs ran on have been pruned", r.ID)
	}
	return nil
}

// revive puts an ended run back into the state that it ended in, which the end has
// overwritten; what is on disk says which that was.
func (r *Run) revive() (next string, err error) {
	refused := r.Refusals >= maxRefusals
	stuck := r.Outcome == Stuck
	r.Outcome, r.Reason, r.EndedAt = "", "", nil
	r.Refusals = 0
	if r.Sleep != nil {
		r.State, r.Wake = Parked, Submission{}
		r.settled()
		return fmt.Sprintf("leg %d gets the results of sleep %d", r.Leg, r.Sleep.Number), r.save()
	}
	kept, err := r.has("request.json")
	if err != nil {
		return "", err
	}
	over, err := r.has(endedFile)
	if err != nil {
		return "", err
	}
	// Of an author that failed there is nothing to carry out, nor of a request that was
	// refused unread.
	if kept || stuck && over && !refused {
		r.State, r.Wake = Running, Submission{}
		r.settled()
		return fmt.Sprintf("what leg %d has asked for is carried out", r.Leg), r.save()
	}
	// Else a leg that dies at once would seem to have ended as this one did.
	if over {
		if err := os.Remove(r.legPath(r.Leg, endedFile)); err != nil {
			return "", fmt.Errorf("retrying run %s: %w", r.ID, err)
		}
	}
	return fmt.Sprintf("leg %d starts anew", r.Leg), r.ready(r.Leg, 0)
}

// has says whether the present leg left a file.
func (r *Run) has(file string) (bool, error) {
	_, err := os.Lstat(r.legPath(r.Leg, file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
