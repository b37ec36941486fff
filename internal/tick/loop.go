package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// interval is the pause between two passes of a loop. A run does not wait for
// it: its wake is a job that the end of its last job starts. It is how soon a
// loop notices that something has died.
const interval = 500 * time.Millisecond

// loop passes over the runs until it is told to end, or until no run can move.
func (c *call) loop(ctx context.Context, e *engine.Engine, untilIdle bool, after *after) error {
	l := &looper{call: c, engine: e, progress: newProgress(c.Stdout, e.Now()), reported: make(map[string]bool)}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for first := true; ; first = false {
		idle := l.round(ctx)
		l.show(after, idle && untilIdle || ctx.Err() != nil)
		if ctx.Err() != nil {
			fmt.Fprintln(c.Stdout, "stopped; legs and jobs that are under way go on, and the next tick takes them up")
			return nil
		}
		if idle && untilIdle {
			return nil
		}
		if idle && first {
			fmt.Fprintln(c.Stdout, "waiting: no run can move yet; outerloop-tick new makes one")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// looper is what a loop remembers from one round to the next, so that it says
// everything once.
type looper struct {
	call     *call
	engine   *engine.Engine
	progress *progress
	reported map[string]bool // errors of runs
	paused   bool
	next     time.Time // when what the operator asked for is written again
	unshown  string    // why it could not be, the last time
}

// show writes what the operator asked for, not at every round: reading all runs takes
// longer than passing over them. A page that cannot be written stops no run.
func (l *looper) show(after *after, last bool) {
	now := l.engine.Now()
	if !last && now.Before(l.next) {
		return
	}
	defer func() { l.next = showNext(now, l.engine.Now()) }()
	words := ""
	if err := after.write(l.engine, now); err != nil {
		if words = err.Error(); words != l.unshown {
			l.engine.Log.Error("runs could not be shown", "error", err)
		}
	}
	l.unshown = words
}

// showEvery is how often a loop writes what shows its runs, unless that takes more than
// its share of the loop's time: a page of 10,000 runs takes more than a second.
const (
	showEvery = 5 * time.Second
	showShare = 20 // one part of so many
)

func showNext(began, ended time.Time) time.Time {
	return began.Add(max(showEvery, showShare*ended.Sub(began)))
}

// round passes over the runs once, unless they are paused, and shows what has changed.
// It says whether no run can move any more, as far as can be known.
func (l *looper) round(ctx context.Context) (idle bool) {
	if now := paused(l.engine.Root); now != l.paused {
		l.paused = now
		if now {
			fmt.Fprintln(l.call.Stdout, pausedLine)
		} else {
			fmt.Fprintln(l.call.Stdout, "resumed")
		}
	}
	if !l.paused {
		idle = l.pass(ctx)
	}
	// What is under way goes on also in a pause, and is shown.
	if runs, err := l.engine.Status(ctx); err == nil {
		l.progress.show(runs)
		return idle || l.paused && allOver(runs)
	}
	return idle
}

func (l *looper) pass(ctx context.Context) (idle bool) {
	log := l.engine.Log
	sum, err := l.engine.Pass(ctx)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		// What failed may work again in a moment; a loop stays.
		log.Error("pass failed", "error", err)
	}
	for _, broken := range sum.Broken {
		if !l.reported[broken.Error()] {
			l.reported[broken.Error()] = true
			log.Error("run passed over", "error", broken)
		}
	}
	return err == nil && sum.Moving == 0
}

func allOver(runs []engine.Status) bool {
	for _, r := range runs {
		if r.Broken == "" && r.State != engine.Ended {
			return false
		}
	}
	return true
}
