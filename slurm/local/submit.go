package local

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// maxArray bounds the record of a job, which is written anew whenever one of its
// tasks starts or ends.
const maxArray = 10_000

// Submit puts a job in the queue, and starts it if it may start. When it returns
// an id the job is on the disk. A job whose token is known is not submitted again:
// its id is returned, whatever the rest of the spec says. A [*slurm.RefusedError]
// means that the job was not taken; after any other error, Find knows whether it
// was.
func (b *Backend) Submit(ctx context.Context, spec slurm.JobSpec) (string, error) {
	if err := check(&spec); err != nil {
		return "", err
	}
	v, err := b.store.enter(ctx)
	if err != nil {
		return "", fmt.Errorf("submit job %s: %w", spec.Name, err)
	}
	defer v.leave()
	known, err := v.findToken(spec.Token)
	if err != nil {
		return "", fmt.Errorf("submit job %s: %w", spec.Name, err)
	}
	if known != 0 {
		return strconv.Itoa(known), nil
	}
	if err := v.fits(&spec); err != nil {
		return "", err
	}
	j := b.newJob(spec, v.at)
	if err := v.add(j); err != nil {
		return "", fmt.Errorf("submit job %s: %w", spec.Name, err)
	}
	v.jobs = append(v.jobs, j)
	v.byID[j.ID] = j
	v.pass()
	v.forget(j.ID)
	return j.name(), nil
}

func (b *Backend) newJob(spec slurm.JobSpec, at time.Time) *job {
	j := &job{
		Spec:      spec,
		Submitted: at,
		Walltime:  time.Duration(spec.Minutes) * b.minute,
		Grace:     b.grace,
		Shepherd:  b.shepherd,
		Tasks:     make([]task, max(spec.Array, 1)),
	}
	for i := range j.Tasks {
		j.Tasks[i].State = slurm.Pending
	}
	return j
}

// check refuses what could not be run on any machine.
func check(spec *slurm.JobSpec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return &slurm.RefusedError{Job: spec.Name, Reason: fmt.Sprintf(format, args...)}
	}
	if spec.Array > maxArray {
		return refuse("its array has %d tasks; split it into arrays of at most %d", spec.Array, maxArray)
	}
	if spec.Dir != "" && !filepath.IsAbs(spec.Dir) {
		return refuse("its directory %q is relative; give an absolute path", spec.Dir)
	}
	for _, part := range []struct {
		name  string
		texts []string
	}{
		{"name", []string{spec.Name}},
		{"token", []string{spec.Token}},
		{"account", []string{spec.Account}},
		{"directory", []string{spec.Dir}},
		{"output file", []string{spec.Output}},
		{"command", spec.Command},
		{"environment", spec.Env},
	} {
		for _, text := range part.texts {
			if err := checkText(text); err != nil {
				// The text itself stays out of the message: it may be a secret.
				return refuse("its %s %v; pass such bytes in a file", part.name, err)
			}
		}
	}
	return nil
}

// fits refuses what can never start here.
func (v *visit) fits(spec *slurm.JobSpec) error {
	refuse := func(format string, args ...any) error {
		return &slurm.RefusedError{Job: spec.Name, Reason: fmt.Sprintf(format, args...)}
	}
	if spec.CPUs > v.CPUs {
		return refuse("it asks for %d CPUs a task and this machine has %d; ask for at most %d", spec.CPUs, v.CPUs, v.CPUs)
	}
	if spec.GPUs > v.GPUs {
		return refuse("it asks for %d GPUs a task and this machine has %d; ask for at most %d", spec.GPUs, v.GPUs, v.GPUs)
	}
	last, err := v.lastID()
	if err != nil {
		return fmt.Errorf("submit job %s: %w", spec.Name, err)
	}
	for _, id := range spec.After {
		// A job that was forgotten is over. One that never was would be waited
		// for in vain, or not at all.
		if n, _, ok := parseID(id); !ok || n > last {
			return refuse("it has to run after job %q, which was never submitted here; leave it out", id)
		}
	}
	return nil
}

// Find returns the id of the job that was submitted with the token, "" if there is
// none. It knows a job for as long as Outcomes does.
func (b *Backend) Find(ctx context.Context, token string) (string, error) {
	unlock, err := lock(ctx, b.store.path("lock"))
	if err != nil {
		return "", fmt.Errorf("find a job: %w", err)
	}
	defer unlock()
	id, err := b.store.findToken(token)
	if err != nil {
		return "", fmt.Errorf("find a job: %w", err)
	}
	if id == 0 {
		return "", nil
	}
	return strconv.Itoa(id), nil
}
