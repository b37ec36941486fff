package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Engine does what moves runs. Root, Backend, Program, Now
// and Log must be set. An Engine holds no
// state of its own but what its passes have read: any number of processes, each with
// its own, may work on one state root at once.
type Engine struct {
	Root    Root
	Backend slurm.Backend
	Program Program
	Env     []string // of the jobs that run Program; see [JobEnvironment]
	Author  []string // settings for the author's program, which legs get besides
	Keys    []string // files that those settings name, readable in legs and to no job; absolute and clean
	Place   Placement
	Shares  bool   // the queue is asked for through [Shared], as a cluster's has to be
	Job     string // the job that this process runs as, "" for none
	Now     func() time.Time
	Log     *slog.Logger

	seen seenRecords
}

// Placement says where in a cluster jobs go. It is the operator's, and the same
// for all runs of a state root.
type Placement struct {
	Account   string `json:"account,omitempty"`
	Partition string `json:"partition,omitempty"` // or a list of them
	QOS       string `json:"qos,omitempty"`

	// For jobs with GPUs, where they are to go elsewhere.
	GPUAccount   string `json:"gpu_account,omitempty"`
	GPUPartition string `json:"gpu_partition,omitempty"`
}

// put places a job.
func (p *Placement) put(spec *slurm.JobSpec) {
	spec.Account, spec.Partition, spec.QOS = p.Account, p.Partition, p.QOS
	if spec.GPUs > 0 {
		spec.Account = cmp.Or(p.GPUAccount, p.Account)
		spec.Partition = cmp.Or(p.GPUPartition, p.Partition)
	}
}

// lane is the partition whose nodes an author wants to know about.
func (p *Placement) lane(gpus int) string {
	if gpus > 0 {
		return cmp.Or(p.GPUPartition, p.Partition)
	}
	return p.Partition
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
			return &schedulerError{err}
		}
		if id != "" {
			job.ID = id
			return nil
		}
	}
	spec.Token = job.Token
	e.Place.put(&spec)
	id, err := e.Backend.Submit(ctx, spec)
	if refused, ok := errors.AsType[*slurm.RefusedError](err); ok {
		job.Refused = refused.Reason
		return nil
	}
	if err != nil {
		return &schedulerError{err}
	}
	job.ID, job.At = id, e.Now().UTC()
	return nil
}

// queue asks for the queue.
func (e *Engine) queue(ctx context.Context) ([]slurm.Row, error) {
	if e.Shares {
		return (&Shared{Backend: e.Backend, Root: e.Root}).Queue(ctx)
	}
	return e.Backend.Queue(ctx)
}

// outcomes asks how jobs stand.
func (e *Engine) outcomes(ctx context.Context, ids []string) (map[string]slurm.Outcome, error) {
	all, err := e.Backend.Outcomes(ctx, ids)
	if err != nil {
		return nil, &schedulerError{err}
	}
	return all, nil
}

// outcomesSince asks how jobs stand that were known before the queue was asked for.
// The time is this process's own. Where the queue came from another one, through
// [Shared], it may be older than the jobs, and the backend asks again.
func (e *Engine) outcomesSince(ctx context.Context, ids []string, since time.Time) (map[string]slurm.Outcome, error) {
	all, err := e.Backend.OutcomesSince(ctx, ids, since)
	if err != nil {
		return nil, &schedulerError{err}
	}
	return all, nil
}

// cancel ends jobs.
func (e *Engine) cancel(ctx context.Context, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := e.Backend.Cancel(ctx, ids...); err != nil {
		return &schedulerError{err}
	}
	return nil
}

// intend makes a submission that is about to be tried.
func (e *Engine) intend() Submission {
	return Submission{Token: rand.Text(), At: e.Now().UTC()}
}
