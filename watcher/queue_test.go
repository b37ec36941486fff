package watcher

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/slurm"
)

// cluster is a scheduler that counts.
type cluster struct {
	took    time.Duration
	mu      sync.Mutex
	rows    []slurm.Row
	err     error
	laneErr error

	queries, laneQueries, atOnce, most atomic.Int32
}

func (c *cluster) Queue(ctx context.Context) ([]slurm.Row, error) {
	c.queries.Add(1)
	defer c.busy()()
	if err := sleep(ctx, c.took); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows, c.err
}

func (c *cluster) Nodes(context.Context, string) (map[string]int, error) {
	c.laneQueries.Add(1)
	defer c.busy()()
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"idle": 3}, c.laneErr
}

func (c *cluster) busy() (free func()) {
	c.most.Store(max(c.most.Load(), c.atOnce.Add(1)))
	return func() { c.atOnce.Add(-1) }
}

func (c *cluster) fail(err, laneErr error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.laneErr = err, laneErr
}

// owned gives every row to the run that its name begins with.
func owned(_ context.Context, rows []slurm.Row) ([]Job, error) {
	var jobs []Job
	for _, r := range rows {
		if run, what, ok := strings.Cut(r.Name, "-launch-"); ok {
			jobs = append(jobs, Job{Row: r, RunID: run, Agent: "of " + run, Kind: "launch", Experiment: what})
		}
	}
	return jobs, nil
}

func askQueue(t *testing.T, q *Queue, run string) channel.QueueAnswer {
	t.Helper()
	v, err := q.Handler(run, "me")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v.(channel.QueueAnswer)
}

func TestQueueKeepsItsGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{took: time.Second, rows: []slurm.Row{{ID: "1", Name: "r1-launch-a", State: slurm.Running}}}
		q := NewQueue(QueueOptions{Scheduler: c, Attribute: owned, Lane: "gpu"})
		began := time.Now()
		for time.Since(began) < 2*time.Minute {
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					a := askQueue(t, q, fmt.Sprint("r", i))
					if age := channel.Seconds(time.Now()) - a.At; age > 5.001 || a.Cached != (age > 0) || a.Error != "" {
						t.Errorf("an answer %v s old: %+v", age, a)
					}
					if len(a.Jobs) != 1 || a.Jobs[0].Mine != (i == 1) || a.Lane.Nodes["idle"] != 3 {
						t.Errorf("r%d: %+v", i, a)
					}
				})
			}
			wg.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		// Each query takes a second and is followed by five without one.
		if n := c.queries.Load(); n < 19 || n > 21 {
			t.Errorf("%d queries in two minutes", n)
		}
		if n := c.laneQueries.Load(); n != 2 {
			t.Errorf("%d lane queries in two minutes", n)
		}
		if c.most.Load() != 1 {
			t.Errorf("%d queries at once", c.most.Load())
		}
	})
}

func TestQueueFailureHoldsTheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{rows: []slurm.Row{{ID: "1", Name: "r1-launch-a"}}}
		q := NewQueue(QueueOptions{Scheduler: c, Attribute: owned, Lane: "gpu"})
		good := askQueue(t, q, "r1")
		time.Sleep(6 * time.Second)
		c.fail(errors.New("slurmctld\nis down"), errors.New("no nodes"))
		for i := range 5 {
			a := askQueue(t, q, "r1")
			if !strings.HasSuffix(a.Error, "slurmctld is down") || len(a.Jobs) != 0 || a.At <= good.At || a.Cached != (i > 0) ||
				a.Lane.Partition != "" {
				t.Errorf("answer %d: %+v", i, a)
			}
		}
		if n := c.queries.Load(); n != 2 {
			t.Errorf("%d queries, want 2", n)
		}
		time.Sleep(time.Minute)
		c.fail(nil, errors.New("no nodes"))
		a := askQueue(t, q, "r1")
		want := channel.Lane{Partition: "gpu", Error: "no nodes"}
		if diff := cmp.Diff(want, a.Lane); diff != "" || a.Error != "" || len(a.Jobs) != 1 {
			t.Errorf("%+v %s", a, diff)
		}
	})
}

// TestQueueAbandoned: a query that everybody gave up on ends, keeps its gap, and
// is nobody's answer.
func TestQueueAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{took: 10 * time.Second}
		q := NewQueue(QueueOptions{Scheduler: c, Attribute: owned})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Handler("r1", "me")(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		if n := c.atOnce.Load(); n != 0 {
			t.Errorf("%d queries outlive their askers", n)
		}
		began := time.Now()
		if a := askQueue(t, q, "r1"); a.Error != "" || a.Cached {
			t.Errorf("%+v", a)
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("the next query was over after %v, want the gap and 10 s", took)
		}
		// One who stays keeps the query for himself.
		time.Sleep(time.Minute)
		var wg sync.WaitGroup
		wg.Go(func() {
			if a := askQueue(t, q, "r1"); a.Error != "" {
				t.Errorf("%+v", a)
			}
		})
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Handler("r2", "me")(ctx); err == nil {
			t.Error("answered before the scheduler was")
		}
		wg.Wait()
		if n := c.queries.Load(); n != 3 {
			t.Errorf("%d queries, want 3", n)
		}
	})
}

func TestQueueTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{took: time.Hour}
		q := NewQueue(QueueOptions{Scheduler: c, Attribute: owned})
		if a := askQueue(t, q, "r1"); !strings.Contains(a.Error, "could not be asked") {
			t.Errorf("%+v", a)
		}
	})
}

func TestQueueWithoutLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{laneErr: slurm.ErrUnsupported}
		q := NewQueue(QueueOptions{Scheduler: c, Attribute: owned, Lane: "gpu"})
		for range 3 {
			if a := askQueue(t, q, "r1"); !cmp.Equal(a.Lane, channel.Lane{}) || a.Error != "" {
				t.Errorf("%+v", a)
			}
			time.Sleep(2 * time.Minute)
		}
		if n := c.laneQueries.Load(); n != 1 {
			t.Errorf("asked %d times for what there is not", n)
		}
	})
}

func TestQueueAttributeFails(t *testing.T) {
	for name, attribute := range map[string]func(context.Context, []slurm.Row) ([]Job, error){
		"error": func(context.Context, []slurm.Row) ([]Job, error) { return nil, errors.New("no records") },
		"panic": func(context.Context, []slurm.Row) ([]Job, error) { panic("no records") },
	} {
		q := NewQueue(QueueOptions{Scheduler: &cluster{}, Attribute: attribute})
		if a := askQueue(t, q, "r1"); a.Error == "" || a.At == 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	c := &cluster{}
	for i := range 2000 {
		run := "other"
		if i%100 == 99 {
			run = "mine"
		}
		c.rows = append(c.rows, slurm.Row{ID: fmt.Sprint(i), Name: run + "-launch-a", Reason: "two\nlines\x1b[31m" + strings.Repeat("x", 999)})
	}
	a := askQueue(t, NewQueue(QueueOptions{Scheduler: c, Attribute: owned}), "mine")
	mine := 0
	for _, j := range a.Jobs {
		if j.Mine {
			mine++
		}
		if len(j.Reason) != maxFieldChars || strings.ContainsAny(j.Reason, "\n\x1b") || j.Kind != "launch" {
			t.Fatalf("%+v", j)
		}
	}
	if len(a.Jobs) != channel.MaxQueueJobs || mine != 20 {
		t.Errorf("%d jobs, %d of them mine; want %d and 20", len(a.Jobs), mine, channel.MaxQueueJobs)
	}
}
