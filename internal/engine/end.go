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
// grace and some more.
const endWait = time.Minute

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
	if rec.State == Running && rec.Wake.ID != "" {
		if err := e.Backend.Cancel(ctx, rec.Wake.ID); err != nil {
			return fmt.Errorf("ending the leg of run %s: %w", id, err)
		}
	}
	r, err := openRun(ctx, e.Root, id, endWait)
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("run %s still has a live process; it ends with that, or at the next tick", id)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return e.endRun(ctx, r)
}

// endRun cancels what a run has in the queue and ends it.
func (e *Engine) endRun(ctx context.Context, r *Run) error {
	if r.State == Ended {
		return nil
	}
	if r.Wake.ID != "" && r.Wake.ID != e.Job {
		if err := e.Backend.Cancel(ctx, r.Wake.ID); err != nil {
			return fmt.Errorf("cancelling the wake of run %s: %w", r.ID, err)
		}
	}
	if err := e.cancelSleep(ctx, r); err != nil {
		return fmt.Errorf("cancelling the jobs of run %s: %w", r.ID, err)
	}
	return r.end(Canceled, e.Now().UTC(), "ended by the operator")
}

// cancelSleep cancels the jobs that are out and says in the ledger how each
// ended, so that it has an end for everything that went in.
func (e *Engine) cancelSleep(ctx context.Context, r *Run) error {
	if r.Sleep == nil {
		return nil
	}
	if r.State == Parking {
		// What may be in has to be known before it can be cancelled.
		if err := e.launch(ctx, r, false); err != nil {
			return err
		}
		if err := e.Backend.Cancel(ctx, r.Wake.ID); err != nil {
			return err
		}
	}
	if err := e.Backend.Cancel(ctx, r.Sleep.jobIDs()...); err != nil {
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
