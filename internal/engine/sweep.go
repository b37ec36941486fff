package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/runner"
)

// What a process that was killed has left half made is swept by whoever has what it had:
// the run, or the lock of the directory in which things are made under another name. So
// nobody takes from a process that lives.

// unmadePrefix begins the name of a run that is being made. Its id follows, and behind a
// dot, which no id has, what makes it another name than that of a second attempt.
const unmadePrefix = ".new-"

// makeLock is the file whose lock the maker of a run, or of a copy of the programs, holds
// in the directory where it makes it.
const makeLock = ".lock"

// makeWait is how long one waits for another that makes something: writing a copy of the
// programs takes seconds on a slow disk.
const makeWait = 5 * time.Minute

// making takes the lock of a directory in which things are made. On a filesystem without
// locks it has none to give up, and says so by swept.
func (r Root) making(dir string, wait time.Duration) (unlock func() error, locked bool, err error) {
	d, err := dirfd.Open(r.join(dir))
	if err != nil {
		return nil, false, err
	}
	defer d.Close()
	unlock, err = d.Lock(context.Background(), makeLock, wait)
	switch {
	case errors.Is(err, dirfd.ErrLocked):
		return nil, false, fmt.Errorf("another process works in %s: %w", d.Name(), err)
	case err != nil:
		return func() error { return nil }, false, nil
	}
	return unlock, true, nil
}

// sweepUnmade removes runs whose maker was killed, unless somebody makes one just now.
func (r Root) sweepUnmade(names []string) error {
	if len(names) == 0 {
		return nil
	}
	unlock, locked, err := r.making("runs", 0)
	if !locked {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return r.removeUnmade(names)
}

// removeUnmade removes runs that were not made. The caller has the lock of their directory.
func (r Root) removeUnmade(names []string) error {
	var errs []error
	for _, name := range names {
		id, _, _ := strings.Cut(strings.TrimPrefix(name, unmadePrefix), ".")
		if _, err := os.Lstat(r.RunDir(id)); errors.Is(err, fs.ErrNotExist) && id != "" {
			// Only an empty one goes, and one that the operator had made comes again.
			os.Remove(r.join("workspaces", id))
		}
		errs = append(errs, os.RemoveAll(r.join("runs", name)))
	}
	return errors.Join(errs...)
}

// sweep removes what a process that had the run has left half written when it was killed.
func (r *Run) sweep() error {
	for _, dir := range []string{r.dir, r.legPath(r.Leg, ""), r.legPath(r.Leg+1, "")} {
		if err := durable.Sweep(dir); err != nil {
			return fmt.Errorf("sweeping run %s: %w", r.ID, err)
		}
	}
	return nil
}

// sweepJobs does the same for the directories of jobs, which are over.
func (r *Run) sweepJobs(g *gathered) error {
	for i, jobs := range g.launches {
		l := &r.Sleep.Launches[i]
		if err := durable.Sweep(r.jobDir(l.Name)); err != nil {
			return fmt.Errorf("sweeping launch %s: %w", l.Name, err)
		}
		for _, j := range jobs {
			if err := runner.Tidy(j.dir, l.Artifacts); err != nil {
				return fmt.Errorf("sweeping job %s: %w", j.name, err)
			}
		}
	}
	if g.gate != nil {
		return runner.Tidy(g.gate.dir, nil)
	}
	return nil
}
