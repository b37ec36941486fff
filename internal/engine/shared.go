package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/slurm"
)

// Shared asks the scheduler for all sessions of a state root together: once in
// five seconds for the queue and once a minute for the nodes of a lane, however
// many processes ask, on however many machines. What one has learnt it leaves in
// the state root for the others.
//
// Who needs a newer answer takes a lock and asks; the others wait for it, and for
// no longer than their context. A holder that dies gives the lock up. Answers are
// put in place whole, so a reader sees one or the other, on NFS too. They are not
// synced, since they are of no use for longer than a minute.
type Shared struct {
	Backend slurm.Backend
	Root    Root
	Gap     time.Duration // default 5 s
	LaneGap time.Duration // default one minute
}

// snapshot is what a file of the shared directory holds.
type snapshot struct {
	At     time.Time       `json:"at"` // when the answer was had, by the clock of who asked
	Error  string          `json:"error,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// maxSnapshotBytes bounds a snapshot. A row of the queue takes less than a
// kilobyte.
const maxSnapshotBytes = 256 << 20

// QueueAt returns the queue and when it was had.
func (s *Shared) QueueAt(ctx context.Context) (rows []slurm.Row, at time.Time, err error) {
	at, err = s.get(ctx, "queue", orDefault(s.Gap, 5*time.Second), &rows, func() (any, error) { return s.Backend.Queue(ctx) })
	return rows, at, err
}

// Queue is QueueAt for those who do not ask for the time.
func (s *Shared) Queue(ctx context.Context) ([]slurm.Row, error) {
	rows, _, err := s.QueueAt(ctx)
	return rows, err
}

// Nodes returns the node states of a lane.
func (s *Shared) Nodes(ctx context.Context, lane string) (nodes map[string]int, err error) {
	sum := sha256.Sum256([]byte(lane))
	_, err = s.get(ctx, "nodes-"+hex.EncodeToString(sum[:4]), orDefault(s.LaneGap, time.Minute), &nodes,
		func() (any, error) { return s.Backend.Nodes(ctx, lane) })
	return nodes, err
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// get returns the answer of that name, from the state root where it is there and
// no older than the gap, else by asking.
func (s *Shared) get(ctx context.Context, name string, gap time.Duration, into any, ask func() (any, error)) (time.Time, error) {
	dir, err := s.dir()
	if err != nil {
		return time.Time{}, err
	}
	defer dir.Close()
	file := name + ".json"
	if snap, age, ok := read(dir, file, time.Now()); ok && age >= 0 && age < gap {
		return snap.give(into)
	}
	unlock, err := dir.Lock(ctx, name+".lock", -1)
	if err != nil {
		return time.Time{}, fmt.Errorf("waiting for another session's question to the scheduler: %w", err)
	}
	defer unlock()
	// Machines' clocks may differ by minutes. What the time is is asked of the
	// filesystem, which has stamped the snapshot too.
	now, err := dir.Touch(name+".lock", time.Time{})
	if err != nil {
		return time.Time{}, err
	}
	if snap, age, ok := read(dir, file, now); ok && age < gap {
		return snap.give(into)
	}
	snap := snapshot{At: time.Now()}
	answer, err := ask()
	switch {
	case ctx.Err() != nil:
		return time.Time{}, ctx.Err() // given up: no answer for anybody else
	case errors.Is(err, slurm.ErrUnsupported):
		return time.Time{}, err
	case err != nil:
		// A scheduler that has trouble is not asked more often.
		snap.Error = err.Error()
	default:
		if snap.Answer, err = json.Marshal(answer); err != nil {
			return time.Time{}, err
		}
	}
	raw, err := json.Marshal(snap)
	if err != nil {
		return time.Time{}, err
	}
	if err := dir.Publish(file, raw, dirfd.Volatile); err != nil {
		return time.Time{}, fmt.Errorf("sharing the scheduler's answer: %w", err)
	}
	return snap.give(into)
}

func (s *Shared) dir() (*dirfd.Dir, error) {
	root, err := dirfd.Open(s.Root.Path())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Mkdir("shared")
}

// read returns a snapshot and its age by the filesystem's stamp.
func read(dir *dirfd.Dir, file string, now time.Time) (snap snapshot, age time.Duration, ok bool) {
	st, err := dir.Lstat(file)
	if err != nil {
		return snap, 0, false
	}
	raw, err := dir.ReadSmall(file, maxSnapshotBytes)
	if err != nil || json.Unmarshal(raw, &snap) != nil {
		return snap, 0, false
	}
	return snap, now.Sub(st.ModTime), true
}

// give hands the answer on.
func (s *snapshot) give(into any) (time.Time, error) {
	if s.Error != "" {
		return s.At, errors.New(s.Error)
	}
	return s.At, json.Unmarshal(s.Answer, into)
}
