package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/runner"
)

// Summary is what a pass found.
type Summary struct {
	Runs   int
	Moving int     // runs that have not ended and whose record can be read
	Broken []error // one for each run that could not be looked at or moved
}

// Pass looks at every run once and does what is to be done: it starts legs that
// are due, and takes on what dead processes have left. It asks the backend for
// its queue once, however many runs there are. A run that another process has
// is passed over, and one whose record is broken is reported and left alone.
//
// The error is one that concerns all runs. Without the queue nothing is known
// about any job, so nothing is done.
func (e *Engine) Pass(ctx context.Context) (Summary, error) {
	ids, unmade, err := e.Root.list()
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Runs: len(ids)}
	var moving []Record
	e.seen.load(e.Root, ids, func(rec Record, err error) {
		switch {
		case err != nil:
			sum.Broken = append(sum.Broken, err)
		case rec.State != Ended:
			moving = append(moving, rec)
		}
	})
	sum.Moving = len(moving)
	see, err := e.look(ctx)
	if err != nil {
		return Summary{}, err
	}
	if err := e.Root.sweepUnmade(unmade); err != nil {
		e.Log.Warn("runs that were not made could not be swept", "error", err)
	}
	if err := runner.SweepScratch(e.Root.ScratchDir(), e.Log); err != nil {
		e.Log.Warn("what dead jobs have left could not be swept", "error", err)
	}
	var due []string
	for i := range moving {
		if rec := &moving[i]; e.due(rec, see) {
			due = append(due, rec.ID)
			see.doubt(rec)
		}
	}
	if err := e.settleDoubts(ctx, see); err != nil {
		// Runs whose wake is in doubt wait for the next pass.
		sum.Broken = append(sum.Broken, err)
	}
	for _, id := range due {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		if err := e.move(ctx, id, see); err != nil && !errors.Is(err, ErrBusy) {
			sum.Broken = append(sum.Broken, err)
		}
	}
	return sum, nil
}

// due says whether a run may need something from this pass. It decides from a
// record that was read without the lock, so move decides again; what it spares
// is the lock of every run that merely waits.
func (e *Engine) due(rec *Record, see *sight) bool {
	if endRequested(e.Root.RunDir(rec.ID)) {
		return true
	}
	if e.Now().Before(rec.NotBefore) {
		return false
	}
	if rec.State == Parked && see.hopelessJob(rec) {
		return true
	}
	// A leg whose job lives is left to it, on whatever machine that is; the lock
	// may not reach so far.
	if rec.State == Parking {
		return true
	}
	return e.late(rec) || !see.lives(&rec.Wake)
}

// move takes a run one step on, if it needs one.
func (e *Engine) move(ctx context.Context, id string, see *sight) error {
	r, err := openRun(ctx, e.Root, id, 0, aTick)
	if err != nil {
		return err // ErrBusy: the process that has it moves it
	}
	defer r.Close()
	if err := r.sweep(); err != nil {
		return err
	}
	if r.ending() {
		return e.endRun(ctx, r)
	}
	if e.Now().Before(r.NotBefore) {
		return nil
	}
	switch r.State {
	case Running, Parking:
		if err := e.takeOn(ctx, r); err != nil {
			return errors.Join(err, e.trouble(ctx, r, err))
		}
	case Ready, Parked:
		if err := e.endHopeless(ctx, r, see); err != nil {
			return err
		}
		return e.startLeg(ctx, r, see)
	}
	return nil
}

// takeOn goes on with a run whose process has died. That it is dead is certain:
// this process has the lock which that one held.
func (e *Engine) takeOn(ctx context.Context, r *Run) error {
	e.Log.Warn("taking on what a dead process has left", "run", r.ID, "leg", r.Leg, "state", r.State)
	if r.State == Parking {
		return e.launch(ctx, r, false)
	}
	// Its job may still be there, waiting to be started again; it may also be
	// what this process runs as.
	if r.Wake.ID != "" && r.Wake.ID != e.Job {
		if err := e.cancel(ctx, r.Wake.ID); err != nil {
			return err
		}
	}
	if err := r.checkWorkspace(); err != nil {
		return err
	}
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	how := ending{Cause: byKernel}
	if err := readJSON(r.legPath(r.Leg, endedFile), &how); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A pass takes one run after the other, and a workspace that is slow to seal must
	// not hold up those behind it for longer than a leg may take for the same.
	finish, cancel := context.WithTimeout(ctx, legSlack*time.Minute)
	defer cancel()
	return e.finishLeg(finish, r, k, how)
}

// late says that a run still waits behind jobs that are past their time. A wake
// that was made after the deadline waits for nothing, and is left to come.
func (e *Engine) late(rec *Record) bool {
	return rec.State == Parked && rec.Sleep != nil &&
		e.Now().After(rec.Sleep.Deadline) && rec.Wake.At.Before(rec.Sleep.Deadline)
}

// startLeg submits the job that starts the run's next leg, if there is none.
func (e *Engine) startLeg(ctx context.Context, r *Run, see *sight) error {
	late := e.late(&r.Record)
	if see.lives(&r.Wake) && !late {
		return nil
	}
	if r.Wake.ID != "" {
		switch {
		case late:
			if err := e.cancel(ctx, r.Wake.ID); err != nil {
				return err
			}
			r.Wake = Submission{}
		case !see.gone[r.Wake.Token]:
			return nil
		default:
			// It ended without a word of its own: it was cancelled, or killed.
			return e.trouble(ctx, r, errWakeGone)
		}
	}
	fresh := r.Wake.Token == ""
	if fresh {
		r.Wake = e.intend()
		if err := r.save(); err != nil {
			return err
		}
	}
	if err := e.submit(ctx, &r.Wake, e.wakeSpec(r), fresh); err != nil {
		return fmt.Errorf("submitting leg %d of %s: %w", r.Leg, r.ID, err)
	}
	if r.Wake.Refused != "" {
		return e.abandon(ctx, r, Stuck, "the scheduler refused leg %d: %s", r.Leg, r.Wake.Refused)
	}
	return r.save()
}

var errWakeGone = errors.New("the job that was to start it is gone, and did not")
