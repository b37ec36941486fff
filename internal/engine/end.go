package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
)

// endFile is the operator's word that a run is to end. It stands beside the
// record, since the process that has the run is the only one to write that.
const endFile = "end"

func endRequested(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, endFile))
	return err == nil
}

func (r *Run) ending() bool { return endRequested(r.dir) }

// endWait is how long End waits for a leg that is told to end: the author's
// grace and some more. It looks a few times what it waits for.
const (
	endWait  = time.Minute
	endTries = 6
)

// End ends a run for the operator: its jobs are cancelled, a leg that is under
// way is told to end, and nothing of the run starts again. A run that has ended
// is left as it is.
func (e *Engine) End(ctx context.Context, id string) error {
	dir := e.Root.RunDir(id)
	rec, err := loadRecord(dir, id)
	if err != nil {
		return err
	}
	if rec.State == Ended {
		return nil
	}
	if err := durable.WriteFile(filepath.Join(dir, endFile), nil); err != nil {
		return fmt.Errorf("ending run %s: %w", id, err)
	}
	r, err := e.interrupt(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	return e.endRun(ctx, r)
}

// interrupt takes the run's lock, and tells a leg that holds it to end.
func (e *Engine) interrupt(ctx context.Context, id string) (*Run, error) {
	for range endTries {
		// Which job holds it is looked up each time: a leg may just be beginning.
		rec, err := loadRecord(e.Root.RunDir(id), id)
		if err != nil {
			return nil, err
		}
		if rec.State == Running && rec.Wake.ID != "" {
			if err := e.cancel(ctx, rec.Wake.ID); err != nil {
				return nil, fmt.Errorf("ending the leg of run %s: %w", id, err)
			}
		}
		r, err := openRun(ctx, e.Root, id, endWait/endTries, operator)
		if !errors.Is(err, ErrBusy) {
			return r, err
		}
	}
	return nil, fmt.Errorf("run %s still has a live process; it ends with that, or at the next tick", id)
}

// endRun cancels what a run has in the queue and ends it.
func (e *Engine) endRun(ctx context.Context, r *Run) error {
	if r.State == Ended {
		return nil
	}
	return e.abandon(ctx, r, Canceled, "ended by the operator")
}

// cancelSleep cancels the wake and the jobs that are out, and says in the ledger
// how each ended, so that it has an end for everything that went in. What may be
// in without its id being known is looked for first.
func (e *Engine) cancelSleep(ctx context.Context, r *Run) error {
	jobs := []*Submission{&r.Wake}
	if r.Sleep != nil {
		jobs = append(jobs, r.Sleep.submissions()...)
	}
	var ids []string
	for _, job := range jobs {
		if job.ID == "" && job.Token != "" && job.Refused == "" {
			id, err := e.Backend.Find(ctx, job.Token)
			if err != nil {
				return &schedulerError{err}
			}
			job.ID = id
		}
		if job.ID != "" && job.ID != e.Job {
			ids = append(ids, job.ID)
		}
	}
	if err := e.cancel(ctx, ids...); err != nil {
		return fmt.Errorf("cancelling the jobs of run %s: %w", r.ID, err)
	}
	if r.Sleep == nil {
		return nil
	}
	for _, job := range r.Sleep.submissions() {
		if job.ID == "" && job.Refused == "" {
			job.Refused = "the run ended before it went in"
		}
	}
	if err := recordLaunches(ctx, r); err != nil {
		return err
	}
	g, _, err := e.gather(ctx, r)
	if err != nil {
		return err
	}
	if err := e.giveUp(ctx, &g); err != nil {
		return err
	}
	return g.record(ctx, r)
}
