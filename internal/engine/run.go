package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Run is a run that this process has to itself: it holds the run's lock until
// Close, and the record cannot change under it.
type Run struct {
	Record
	dir    string
	by     actor // who this process is to the run
	kept   State // what the record on disk says
	unlock func() error
}

// ErrBusy says that another process has the run.
var ErrBusy = errors.New("another process has the run")

// openRun takes a run's lock, waiting for it so long at most, and reads its
// record.
func openRun(ctx context.Context, root Root, id string, wait time.Duration, by actor) (*Run, error) {
	r := &Run{dir: root.RunDir(id), by: by}
	d, err := dirfd.Open(r.dir)
	if err != nil {
		return nil, fmt.Errorf("opening run %s: %w", id, err)
	}
	defer d.Close()
	if r.unlock, err = d.Lock(ctx, "lock", wait); err != nil {
		if errors.Is(err, dirfd.ErrLocked) {
			return nil, fmt.Errorf("run %s: %w", id, ErrBusy)
		}
		return nil, fmt.Errorf("opening run %s: %w", id, err)
	}
	if r.Record, err = loadRecord(r.dir, id); err != nil {
		return nil, errors.Join(err, r.unlock())
	}
	r.kept = r.State
	return r, nil
}

// Close lets other processes have the run.
func (r *Run) Close() error { return r.unlock() }

// loadRecord reads a run's record without its lock, for those who only look.
func loadRecord(dir, id string) (Record, error) {
	path := filepath.Join(dir, "run.json")
	var version struct {
		Version int `json:"version"`
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &version)
	}
	if err != nil {
		return Record{}, fmt.Errorf("the record of run %s: %w", id, err)
	}
	if version.Version != recordVersion {
		return Record{}, fmt.Errorf("the record of run %s is of version %d and this program knows %d; it is left alone",
			id, version.Version, recordVersion)
	}
	var rec Record
	if err := decode(raw, &rec); err != nil {
		return Record{}, fmt.Errorf("the record of run %s: %w", id, err)
	}
	if rec.ID != id {
		return Record{}, fmt.Errorf("the record in the directory of run %s is that of %q; it is left alone", id, rec.ID)
	}
	return rec, nil
}

// save makes the record durable. Every change of a run's state goes through it, and
// only one that [life] lists gets through.
func (r *Run) save() error {
	if err := checkChange(r.kept, r.State, r.by); err != nil {
		return fmt.Errorf("saving the record of run %s: %w", r.ID, err)
	}
	if err := writeJSON(r.path("run.json"), r.Record); err != nil {
		return fmt.Errorf("saving the record of run %s: %w", r.ID, err)
	}
	r.kept = r.State
	return nil
}

func (r *Run) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

// legPath is a file of one leg.
func (r *Run) legPath(leg int, file string) string {
	return r.path("legs", strconv.Itoa(leg), file)
}

// ledgerPath is the run's ledger.
func (r *Run) ledgerPath() string { return ledgerPath(r.dir) }

func ledgerPath(dir string) string { return filepath.Join(dir, "launches.jsonl") }

// sealPath is the repository with the run's seals.
func (r *Run) sealPath() string { return r.path("seal.git") }

// jobName is how a job of the run is called in the queue.
func (r *Run) jobName(kind, name string) string { return r.ID + "-" + kind + "-" + name }

// end is the last step of a run.
func (r *Run) end(outcome Outcome, at time.Time, reason string, args ...any) error {
	r.State = Ended
	r.Outcome = outcome
	r.Reason = fmt.Sprintf(reason, args...)
	r.EndedAt = &at
	return r.save()
}

// ready lets a leg start at once, with the prompt that is in place. attempts is
// how often that leg has come to nothing.
func (r *Run) ready(leg, attempts int) error {
	r.State = Ready
	r.Leg = leg
	r.Wake = Submission{}
	r.Attempts = attempts
	if attempts == 0 {
		r.settled()
	}
	r.Sleep = nil
	return r.save()
}

// settled forgets the failures of a step that is taken at last.
func (r *Run) settled() { r.Attempts, r.NotBefore, r.LastError = 0, time.Time{}, "" }
