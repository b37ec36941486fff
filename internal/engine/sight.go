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
	live     map[string]string    // tokens, by the ids, of tasks too, that have not ended
	hopeless map[string]slurm.Row // jobs, by their ids without the task's, that will never start
	doubts   []*Submission        // what is to be asked for
	gone     map[string]bool      // of these, by token, the ones that are over, or that nobody knows
}

// lives says whether a job has not ended.
func (s *sight) lives(job *Submission) bool {
	token, listed := s.live[job.ID]
	return listed && !slurm.OtherJob(token, job.Token)
}

// waitsForEver says why a job will never start, "" for one that may.
func (s *sight) waitsForEver(job *Submission) string {
	row := s.hopeless[job.ID]
	if slurm.OtherJob(row.Token, job.Token) {
		return ""
	}
	return row.Reason
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
		asked: asked, at: e.Now(), live: make(map[string]string, len(rows)),
		hopeless: make(map[string]slurm.Row), gone: make(map[string]bool),
	}
	for _, row := range rows {
		see.live[row.ID] = row.Token
		if row.State == slurm.Pending && slurm.Hopeless(row.Reason) {
			id, _, _ := strings.Cut(row.ID, "_")
			see.hopeless[id] = row
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
	if waits && rec.Wake.ID != "" && !s.lives(&rec.Wake) && s.at.Sub(rec.Wake.At) >= wakeGrace {
		s.doubts = append(s.doubts, &rec.Wake)
	}
}

// settleDoubts asks for the jobs that are not in the queue. Only an answer says
// that one of them is over; that it is missing is not enough.
func (e *Engine) settleDoubts(ctx context.Context, s *sight) error {
	if len(s.doubts) == 0 {
		return nil
	}
	ids := make([]string, len(s.doubts))
	for i, job := range s.doubts {
		ids[i] = job.ID
	}
	outcomes, err := e.outcomesSince(ctx, ids, s.asked)
	if err != nil {
		return fmt.Errorf("asking for wakes that are not in the queue: %w", err)
	}
	for _, job := range s.doubts {
		outcome, known := outcomes[job.ID]
		s.gone[job.Token] = !known || outcome.State.Terminal() || slurm.OtherJob(outcome.Token, job.Token)
	}
	return nil
}

// hopelessJob says whether one of the sleep's jobs will never start.
func (s *sight) hopelessJob(rec *Record) bool {
	if len(s.hopeless) == 0 || rec.Sleep == nil {
		return false
	}
	for _, job := range rec.Sleep.submissions() {
		if s.waitsForEver(job) != "" {
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
		reason := see.waitsForEver(job)
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
