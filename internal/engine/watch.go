package engine

import (
	"context"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/slurm"
	"github.com/outerloop-go/outerloop/watcher"
)

// watch begins to answer an author's questions. After stop has returned nothing
// is written to the channel any more.
func (e *Engine) watch(r *Run, k *channel.Kernel) (stop func(), err error) {
	w := watcher.New(watcher.Options{
		Log: e.Log, Timeouts: map[string]time.Duration{channel.SyncVerb: syncTime},
	})
	queue := watcher.NewQueue(watcher.QueueOptions{
		Scheduler: &Shared{Backend: e.Backend, Root: e.Root},
		Attribute: func(_ context.Context, rows []slurm.Row) ([]watcher.Job, error) {
			return attribute(e.Root, rows), nil
		},
		Lane: e.Place.lane(r.GPUs),
		Log:  e.Log,
	})
	var tally answersTally
	_, err = w.Add(k, tally.count(map[string]watcher.Handler{
		"queue":   queue.Handler(r.ID, r.Agent),
		"history": watcher.History(r.ledgerPath(), r.ID),

		channel.SyncVerb: e.syncHandler(r),
	}))
	stop = func() {
		if err := w.Close(); err != nil {
			e.Log.Error("the watcher did not close cleanly", "run", r.ID, "error", err)
		}
		if err := tally.save(r.legPath(r.Leg, answersFile)); err != nil {
			e.Log.Warn("the leg's answers are not counted", "run", r.ID, "error", err)
		}
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}
