package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// counter counts the questions to a scheduler.
type counter struct {
	scheduler
	queues, nodes atomic.Int32
	err           error
}

func (c *counter) Queue(context.Context) ([]slurm.Row, error) {
	c.queues.Add(1)
	return []slurm.Row{{ID: "7", State: slurm.Running}}, c.err
}

func (c *counter) Nodes(context.Context, string) (map[string]int, error) {
	c.nodes.Add(1)
	return map[string]int{"idle": 2}, nil
}

// Fifty sessions, each with a view of its own, as processes have.
func TestOneQuestionForAll(t *testing.T) {
	root, err := CreateRoot(t.TempDir() + "/root")
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			s := &Shared{Backend: c, Root: root, Gap: time.Hour, LaneGap: time.Hour}
			rows, at, err := s.QueueAt(t.Context())
			if err != nil || len(rows) != 1 || rows[0].ID != "7" || time.Since(at) > time.Minute {
				t.Errorf("%v, %v, %v", rows, at, err)
			}
			nodes, err := s.Nodes(t.Context(), "a,b")
			if err != nil || nodes["idle"] != 2 {
				t.Errorf("%v, %v", nodes, err)
			}
		})
	}
	wg.Wait()
	if c.queues.Load() != 1 || c.nodes.Load() != 1 {
		t.Errorf("%d and %d questions", c.queues.Load(), c.nodes.Load())
	}
	// Once the gap is over it is asked again.
	age(t, root)
	s := &Shared{Backend: c, Root: root}
	if _, err := s.Queue(t.Context()); err != nil || c.queues.Load() != 2 {
		t.Errorf("%d questions, %v", c.queues.Load(), err)
	}
}

// age makes the queue's snapshot an hour old. The clock of a filesystem moves in steps, so
// that waiting for less than one makes nothing older.
func age(t *testing.T, root Root) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root.Path(), "shared", "queue.json"), then, then); err != nil {
		t.Fatal(err)
	}
}

// A failure is shared as an answer is, and is no answer.
func TestSharedFailure(t *testing.T) {
	root, err := CreateRoot(t.TempDir() + "/root")
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{err: errors.New("slurmctld is away")}
	for range 3 {
		s := &Shared{Backend: c, Root: root, Gap: time.Hour}
		if rows, err := s.Queue(t.Context()); err == nil || err.Error() != "slurmctld is away" || rows != nil {
			t.Errorf("%v, %v", rows, err)
		}
	}
	if c.queues.Load() != 1 {
		t.Errorf("%d questions", c.queues.Load())
	}
	// Who gives up leaves no answer for the others.
	over, cancel := context.WithCancel(t.Context())
	cancel()
	age(t, root)
	s := &Shared{Backend: c, Root: root}
	if _, err := s.Queue(over); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
