package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// sight is what a pass knows of the jobs in the queue. It is had with one query,
// and one more for the jobs that are missing there, however many runs there are.
type sight struct {
	asked    time.Time // before the queue was asked for
	at       time.Time
	live     map[string]bool   // ids, of tasks too, that have not ended
	hopeless map[string]string // why a job, by its id without the task's, will never start
	doubts   []string          // ids that are to be asked for
	gone     map[string]bool   // of these, the ones that are over, or that nobody knows
}

// look asks for the queue. What is to be compared with it has to be read before: a
// job that is noted in a record was in the queue by then, so one that is missing
// now is no new one.
func (e *Engine) look(ctx context.Context) (*sight, error) {
	asked := e.Now()
	rows, err := e.queue(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the queue: %w", err)
	}
	see := &sight{
		asked: asked, at: e.Now(), live: make(map[string]bool, len(rows)),
		hopeless: make(map[string]string), gone: make(map[string]bool),
	}
	for _, row := range rows {
		see.live[row.ID] = true
		if row.State == slurm.Pending && slurm.Hopeless(row.Reason) {
			id, _, _ := strings.Cut(row.ID, "_")
			see.hopeless[id] = row.Reason
		}
	}
	return see, nil
}

// wakeGrace is how long a job that was just submitted may be missing from the
// queue before it counts as gone: the answer that a pass works with may be older
// than the job.
const wakeGrace = 10 * time.Second

// doubt notes a wake that is not in the queue.
func (s *sight) doubt(rec *Record) {
	waits := rec.State == Ready || rec.State == Parked
	if waits && rec.Wake.ID != "" && !s.live[rec.Wake.ID] && s.at.Sub(rec.Wake.At) >= wakeGrace {
		s.doubts = append(s.doubts, rec.Wake.ID)
	}
}

// settleDoubts asks for the jobs that are not in the queue. Only an answer says
// that one of them is over; that it is missing is not enough.
func (e *Engine) settleDoubts(ctx context.Context, s *sight) error {
	if len(s.doubts) == 0 {
		return nil
	}
	outcomes, err := e.outcomesSince(ctx, s.doubts, s.asked)
	if err != nil {
		return fmt.Errorf("asking for wakes that are not in the queue: %w", err)
	}
	for _, id := range s.doubts {
		outcome, known := outcomes[id]
		s.gone[id] = !known || outcome.State.Terminal()
	}
	return nil
}

// hopelessJob says whether one of the sleep's jobs will never start.
func (s *sight) hopelessJob(rec *Record) bool {
	if len(s.hopeless) == 0 || rec.Sleep == nil {
		return false
	}
	for _, job := range rec.Sleep.submissions() {
		if s.hopeless[job.ID] != "" {
			return true
		}
	}
	return false
}

// endHopeless cancels jobs that would wait for ever. To the author they are jobs
// that the scheduler has refused, and it is told why.
func (e *Engine) endHopeless(ctx context.Context, r *Run, see *sight) error {
	if r.State != Parked || !see.hopelessJob(&r.Record) {
		return nil
	}
	for _, job := range r.Sleep.submissions() {
		reason := see.hopeless[job.ID]
		if reason == "" {
			continue
		}
		e.Log.Warn("a job would never start; it is cancelled", "run", r.ID, "job", job.ID, "reason", reason)
		// The record first: were it the other way round, a crash would leave a
		// job that was cancelled for no reason that anybody knows.
		if job.Refused == "" {
			job.Refused = "it would wait for ever (" + reason + ")"
			if err := r.save(); err != nil {
				return err
			}
		}
		if err := e.cancel(ctx, job.ID); err != nil {
			return err
		}
	}
	return nil
}
