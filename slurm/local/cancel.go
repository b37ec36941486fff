package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/outerloop-go/outerloop/slurm"
)

// Cancel ends jobs, or single tasks of an array. What waits is CANCELLED when it
// returns. What runs gets SIGTERM, and SIGKILL after the grace of its backend; it
// is COMPLETING until it is gone, and Cancel does not wait for that. The wish is
// on the disk before Cancel returns, and outlives the caller.
//
// An error names the jobs that could not be canceled; the others were.
func (b *Backend) Cancel(ctx context.Context, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	v, err := b.store.enter(ctx)
	if err != nil {
		return fmt.Errorf("cancel jobs %q: %w", ids, err)
	}
	defer v.leave()
	var errs []error
	for _, id := range ids {
		if err := v.cancel(id); err != nil {
			errs = append(errs, fmt.Errorf("cancel job %s: %w", id, err))
		}
	}
	v.pass()
	return errors.Join(errs...)
}

// cancel notes the wish and saves it. The pass that follows acts on it, and finds
// out by itself which of the running tasks have ended before.
func (v *visit) cancel(id string) error {
	n, i, ok := parseID(id)
	if !ok {
		return nil
	}
	if err := v.broken[n]; err != nil {
		return err
	}
	j := v.byID[n]
	if j == nil || i >= len(j.Tasks) || (i >= 0 && j.Spec.Array == 0) {
		return nil
	}
	first, last := i, i
	if i < 0 {
		first, last = 0, len(j.Tasks)-1
	}
	for k := first; k <= last; k++ {
		switch t := &j.Tasks[k]; t.State {
		case slurm.Pending:
			t.State, t.Cancel, t.Ended = slurm.Cancelled, true, v.at
			j.dirty = true
		case slurm.Running:
			t.Cancel, j.dirty = true, true
		}
	}
	if !j.dirty {
		return nil
	}
	return j.save()
}
