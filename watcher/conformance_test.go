package watcher_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/channel/channeltest"
	"github.com/outerloop-go/outerloop/slurm"
	"github.com/outerloop-go/outerloop/watcher"
)

// idle is a scheduler with nothing to do.
type idle struct{}

func (idle) Queue(context.Context) ([]slurm.Row, error)            { return nil, nil }
func (idle) Nodes(context.Context, string) (map[string]int, error) { return nil, slurm.ErrUnsupported }
func nobodys(context.Context, []slurm.Row) ([]watcher.Job, error)  { return nil, nil }
func consume(t testing.TB, workspace string) (request []byte, err error) {
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	raw, err := k.ReadCommitted(channel.MaxVerdictBytes)
	if dropped := k.DropCommitted(); dropped != nil {
		t.Error(dropped)
	}
	if err != nil {
		return nil, err
	}
	r, err := channel.ParseRequest(raw)
	if err != nil {
		return nil, err
	}
	return r.Encode()
}

// TestConformance: the watcher keeps the protocol, and so does what the other
// half of a kernel is made of. One watcher serves all of the suite's sessions,
// the hostile ones and those beside them.
func TestConformance(t *testing.T) {
	w := watcher.New(watcher.Options{})
	defer w.Close()
	queue := watcher.NewQueue(watcher.QueueOptions{Scheduler: idle{}, Attribute: nobodys})
	ledger := filepath.Join(t.TempDir(), "launches.jsonl")

	channeltest.Run(t, channeltest.Config{
		Start: func(t testing.TB, workspace string) (stop func()) {
			k, err := channel.OpenKernel(workspace)
			if err != nil {
				t.Fatal(err)
			}
			watch, err := w.Add(k, map[string]watcher.Handler{
				"history": watcher.History(ledger, "r1"),
				"queue":   queue.Handler("r1", "a1"),
			})
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				watch.Close()
				k.Close()
			}
		},
		Verbs: []channeltest.Verb{{Name: "history", Live: true}, {Name: "queue"}},
		Finds: true,
		Begin: func(_ testing.TB, workspace string) error {
			k, err := channel.CreateKernel(workspace)
			if err != nil {
				return err
			}
			defer k.Close()
			return k.WriteBudget(channel.Budget{Launches: 3, Sleeps: 2})
		},
		Consume: consume,
		Deliver: func(_ testing.TB, workspace string, r channel.Result, content []byte) error {
			k, err := channel.OpenKernel(workspace)
			if err != nil {
				return err
			}
			defer k.Close()
			return k.Deliver(r, bytes.NewReader(content))
		},
	})
}
