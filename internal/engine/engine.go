package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Engine does what moves runs. Every field but Job must be set. An Engine holds no
// state of its own: any number of processes, each with its own, may work on one
// state root at once.
type Engine struct {
	Root    Root
	Backend slurm.Backend
	Program Program
	Env     []string // of the jobs that run Program; see [JobEnvironment]
	Job     string   // the job that this process runs as, "" for none
	Now     func() time.Time
	Log     *slog.Logger
}

// submit puts one job of a run into the queue, once. The caller has saved the
// record with the job's token before, and saves it again afterwards. Unless
// fresh, an earlier process may have submitted it already, with an answer that
// was lost, so the backend is asked first.
//
// A job that the scheduler turns down is not an error: its words are in
// job.Refused. After an error the job is in doubt, and the next call settles it.
func (e *Engine) submit(ctx context.Context, job *Submission, spec slurm.JobSpec, fresh bool) error {
	if job.ID != "" || job.Refused != "" {
		return nil
	}
	if !fresh {
		id, err := e.Backend.Find(ctx, job.Token)
		if err != nil {
			return err
		}
		if id != "" {
			job.ID = id
			return nil
		}
	}
	spec.Token = job.Token
	id, err := e.Backend.Submit(ctx, spec)
	if refused, ok := errors.AsType[*slurm.RefusedError](err); ok {
		job.Refused = refused.Reason
		return nil
	}
	if err != nil {
		return err
	}
	job.ID = id
	return nil
}

// intend makes a submission that is about to be tried.
func (e *Engine) intend() Submission {
	return Submission{Token: rand.Text(), At: e.Now().UTC()}
}
