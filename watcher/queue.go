package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/slurm"
)

// Scheduler is the part of a [slurm.Backend] that the queue view needs.
type Scheduler interface {
	Queue(ctx context.Context) ([]slurm.Row, error)
	Nodes(ctx context.Context, lane string) (map[string]int, error)
}

// Dated is a [Scheduler] whose rows may be older than the question: others have
// asked for them a moment ago. The answer then bears the time they were had.
type Dated interface {
	QueueAt(ctx context.Context) (rows []slurm.Row, at time.Time, err error)
}

// Job is a row of the queue and whose it is.
type Job struct {
	slurm.Row
	RunID      string
	Agent      string
	Kind       string // launch, wake, eval, tick, resident; "" for the job's name
	Experiment string // the launch's name, or ""
	Why        string // the author's words
}

// QueueOptions say where the queue view has its jobs from.
type QueueOptions struct {
	Scheduler Scheduler
	// Attribute picks the rows that belong to this state root, in the order in
	// which they came, and says whose they are. It is called once a query. Its
	// error becomes the answer's: jobs without their owners would mislead.
	Attribute func(ctx context.Context, rows []slurm.Row) ([]Job, error)
	Lane      string // partition, or list of them, whose node states are shown; "" for none
	Log       *slog.Logger

	// Gap is the least time from the end of one query to the start of the next.
	// Default 5 s.
	Gap time.Duration
	// LaneGap is Gap for the node states. Default one minute.
	LaneGap time.Duration
	// Timeout bounds one query. Default 20 s, which leaves an asker that waits
	// for the protocol's 30 s the time to hear of it.
	Timeout time.Duration
}

// Queue answers queue questions for any number of channels out of one query to
// the scheduler. At most one query is under way at a time, and they keep their
// gap, however many ask and whether or not a query succeeds: a scheduler that
// has trouble is not asked more often.
type Queue struct {
	opts QueueOptions

	mu      sync.Mutex
	flight  *flight
	last    view
	nextAt  time.Time // when the next query may begin
	lane    channel.Lane
	laneAt  time.Time // when the node states may be asked for again
	laneOff bool      // the backend has no node states
}

// view is the outcome of one query.
type view struct {
	at   time.Time // when the data was had; the zero time before the first query
	jobs []Job
	lane channel.Lane
	err  error
}

// flight is a query that is under way.
type flight struct {
	cancel  context.CancelFunc
	done    chan struct{}
	waiting int
}

// NewQueue returns a queue view that has asked for nothing yet.
func NewQueue(opts QueueOptions) *Queue {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Gap <= 0 {
		opts.Gap = 5 * time.Second
	}
	if opts.LaneGap <= 0 {
		opts.LaneGap = time.Minute
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 20 * time.Second
	}
	return &Queue{opts: opts}
}

// Handler answers the queue questions of one run.
func (q *Queue) Handler(runID, agent string) Handler {
	return func(ctx context.Context) (any, error) {
		v, cached, err := q.view(ctx)
		if err != nil {
			return nil, err
		}
		return v.answer(runID, agent, cached), nil
	}
}

// view returns the last query's outcome where the gap since then is not over,
// and otherwise that of a query which it begins, or which is under way.
func (q *Queue) view(ctx context.Context) (v view, cached bool, err error) {
	for {
		q.mu.Lock()
		wait := time.Until(q.nextAt)
		if q.flight == nil && wait > 0 && !q.last.at.IsZero() {
			defer q.mu.Unlock()
			return q.last, true, nil
		}
		if q.flight == nil && wait > 0 {
			// The last query was given up by everybody who waited for it. The
			// scheduler was asked all the same.
			q.mu.Unlock()
			if err := sleep(ctx, wait); err != nil {
				return view{}, false, err
			}
			continue
		}
		f := q.flight
		if f == nil {
			f = q.depart()
		}
		f.waiting++
		q.mu.Unlock()
		if err := q.join(ctx, f); err != nil {
			return view{}, false, err
		}
		q.mu.Lock()
		v = q.last
		q.mu.Unlock()
		if !v.at.IsZero() {
			return v, false, nil
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join waits for the query. The last one to give up on it ends it and stays
// until it has ended, so that no query outlives the watcher that asked.
func (q *Queue) join(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	q.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
	return ctx.Err()
}

// depart begins a query. It is called with the lock held.
func (q *Queue) depart() *flight {
	ctx, cancel := context.WithTimeout(context.Background(), q.opts.Timeout)
	f := &flight{cancel: cancel, done: make(chan struct{})}
	q.flight = f
	wantLane := q.opts.Lane != "" && !q.laneOff && !time.Now().Before(q.laneAt)
	go func() {
		defer close(f.done)
		defer cancel()
		v := q.query(ctx)
		asked := v.err == nil && wantLane
		var lane channel.Lane
		if asked {
			lane = q.queryLane(ctx)
		}
		q.land(ctx, v, lane, asked)
	}()
	return f
}

// land keeps the outcome of a query.
func (q *Queue) land(ctx context.Context, v view, lane channel.Lane, laneAsked bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.flight, q.nextAt = nil, now.Add(q.opts.Gap)
	if laneAsked {
		q.laneAt = now.Add(q.opts.LaneGap)
		q.laneOff = lane.Partition == ""
		q.lane = lane
	}
	v.lane = q.lane
	if v.err != nil {
		// Node states are of the same scheduler; those of before are not passed
		// off as current.
		v.lane = channel.Lane{}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		v = view{} // given up: not an answer to anybody who asks later
	}
	q.last = v
}

// query asks for the jobs.
func (q *Queue) query(ctx context.Context) (v view) {
	defer func() {
		if p := recover(); p != nil {
			q.opts.Log.Error("the queue query panicked", "panic", p)
			v = view{err: errors.New("the kernel failed over the scheduler's answer; its operator finds the cause in the log")}
		}
		if v.at.IsZero() {
			v.at = time.Now()
		}
	}()
	rows, at, err := q.rows(ctx)
	if err != nil {
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			q.opts.Log.Warn("the queue query failed", "error", err)
		}
		return view{at: at, err: fmt.Errorf("the scheduler could not be asked: %w", err)}
	}
	jobs, err := q.opts.Attribute(ctx, rows)
	if err != nil {
		q.opts.Log.Warn("the jobs in the queue could not be attributed", "error", err)
		return view{at: at, err: fmt.Errorf("the jobs in the queue could not be attributed: %w", err)}
	}
	return view{at: at, jobs: jobs}
}

// rows asks for the rows and says when they were had.
func (q *Queue) rows(ctx context.Context) ([]slurm.Row, time.Time, error) {
	if d, ok := q.opts.Scheduler.(Dated); ok {
		return d.QueueAt(ctx)
	}
	rows, err := q.opts.Scheduler.Queue(ctx)
	return rows, time.Now(), err
}

// queryLane asks for the node states. The zero lane means that the backend has
// none to give.
func (q *Queue) queryLane(ctx context.Context) channel.Lane {
	// They are the lesser half of the answer, and must not hold the jobs up.
	ctx, cancel := context.WithTimeout(ctx, q.opts.Timeout/4)
	defer cancel()
	nodes, err := q.opts.Scheduler.Nodes(ctx, q.opts.Lane)
	switch {
	case errors.Is(err, slurm.ErrUnsupported):
		return channel.Lane{}
	case err != nil:
		q.opts.Log.Warn("the node states could not be had", "lane", q.opts.Lane, "error", err)
		return channel.Lane{Partition: q.opts.Lane, Error: clean(err.Error(), maxErrorChars)}
	}
	return channel.Lane{Partition: q.opts.Lane, Nodes: nodes}
}
