package local

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"
)

// visit is one stay under the lock: the live jobs as they were found, and what
// the visitor makes of them.
type visit struct {
	*store
	capacity
	at     time.Time
	jobs   []*job // oldest first
	byID   map[int]*job
	broken map[int]error // live jobs of which the record cannot be used
	unlock func()
}

// enter waits for the lock and reads the live jobs. The visitor has to leave.
func (s *store) enter(ctx context.Context) (*visit, error) {
	unlock, err := lock(ctx, s.path("lock"))
	if err != nil {
		return nil, err
	}
	v := &visit{store: s, unlock: unlock, byID: map[int]*job{}, broken: map[int]error{}}
	if err := v.load(); err != nil {
		unlock()
		return nil, err
	}
	return v, nil
}

func (v *visit) leave() { v.unlock() }

func (v *visit) load() error {
	if _, err := self(); err != nil {
		return fmt.Errorf("processes cannot be told on this machine: %w", err)
	}
	var err error
	if v.capacity, err = v.readCapacity(); err != nil {
		return err
	}
	v.at = v.now()
	ids, err := v.ids("live")
	if err != nil {
		return err
	}
	for _, id := range ids {
		j, err := readJob(v.liveDir(id), id)
		if j == nil && err == nil {
			continue // an operator removed it between the list and the look
		}
		if err != nil {
			v.broken[id] = err
			v.report(id, err)
			continue
		}
		v.byID[id] = j
		v.jobs = append(v.jobs, j)
	}
	return nil
}

// pass brings everything up to date: first what ended, then, with the slots that
// this freed, what may start. Trouble with one job is logged and does not keep
// the others.
func (v *visit) pass() {
	for _, j := range v.jobs {
		v.settle(j)
	}
	v.schedule()
	for _, j := range v.jobs {
		if err := v.commit(j); err != nil {
			v.log.Error("A job could not be brought up to date", "job", j.ID, "err", err)
		}
	}
	v.jobs = slices.DeleteFunc(v.jobs, (*job).over)
}

// commit writes a job's record where it changed and does what the record now
// says: it starts the tasks that have just got their slots, or moves the job to
// those that ended. Nothing is done that is not on the disk before.
func (v *visit) commit(j *job) error {
	if j.dirty {
		if err := j.save(); err != nil {
			return err
		}
	}
	if j.over() {
		if err := tidy(j.dir); err != nil {
			return err
		}
		// No sync: a job that a crash puts back among the live ones ends again
		// at the next visit.
		if err := os.Rename(j.dir, v.endedDir(j.ID)); err != nil {
			return err
		}
		j.dir = v.endedDir(j.ID)
		return nil
	}
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.spawn {
			t.spawn = false
			if err := spawn(v.dir, j, i); err != nil {
				// The task keeps its slot, and the next visitor tries again.
				v.log.Error("A shepherd could not be started", "job", j.taskID(i), "err", err)
			}
		}
	}
	return nil
}

// report logs a broken record once, and again when something else is wrong with
// it. Visits are made every few seconds.
func (v *visit) report(id int, err error) {
	if old, found := v.reported.Swap(id, err.Error()); !found || old != err.Error() {
		v.log.Error("A job's record cannot be read; the job is left alone", "job", id, "err", err)
	}
}

func (v *visit) logger(j *job, i int) *slog.Logger { return v.log.With("job", j.taskID(i)) }
