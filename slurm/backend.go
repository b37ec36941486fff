package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrUnsupported is returned by a [Backend] that has no such thing to ask:
// one machine has no partitions whose node states could be counted.
var ErrUnsupported = errors.New("slurm: not supported by this backend")

// RefusedError says that the scheduler looked at a job and turned it down, in
// its own words. Trying the same job again will not help. Any other error from
// [Backend.Submit] leaves the job in doubt: it may be in the queue all the
// same, and [Backend.Find] has to be asked before it is submitted again.
type RefusedError struct {
	Job    string // the job's name
	Reason string // the scheduler's own words
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("job %q was refused: %s", e.Job, e.Reason)
}

// Backend runs jobs. All methods may be called by several goroutines and by
// several processes at once. Each call ends when its context does, and an error
// always means that the answer is not known.
type Backend interface {
	// Submit puts a job in the queue and returns its id. A job whose Token is
	// already known to the backend is not submitted again where the backend can
	// tell; where it cannot, callers ask Find first. See [RefusedError].
	Submit(ctx context.Context, spec JobSpec) (id string, err error)

	// Find returns the id of the job that was submitted with the token, and ""
	// when the backend is sure that there is none.
	Find(ctx context.Context, token string) (id string, err error)

	// Queue returns one row for every job, and for every task of an array, that
	// has not ended: waiting, running or completing.
	Queue(ctx context.Context) ([]Row, error)

	// Outcomes says how jobs stand, for ids as Submit returned them and for
	// tasks as [TaskID] spells them. An id that is missing from the answer is
	// unknown to the backend; that is an answer and not a failure.
	Outcomes(ctx context.Context, ids []string) (map[string]Outcome, error)

	// OutcomesSince is Outcomes for a caller that has called Queue after since, a
	// time by this process's clock, and knew all of the ids before: what Queue has
	// learnt serves, and a backend need not ask for it twice.
	OutcomesSince(ctx context.Context, ids []string, since time.Time) (map[string]Outcome, error)

	// Cancel ends jobs that wait or run. Jobs that have ended, or that are not
	// known, are passed over without an error.
	Cancel(ctx context.Context, ids ...string) error

	// Nodes counts the nodes of a lane by state. Backends without nodes return
	// [ErrUnsupported].
	Nodes(ctx context.Context, lane string) (map[string]int, error)
}
