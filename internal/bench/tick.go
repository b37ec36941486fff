package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/slurm"
)

// parkedFleet is a state root with runs that all wait for jobs, and the
// scheduler that has these. One wake is missing in the queue and only accounting
// knows it, so that a pass has to ask both.
type parkedFleet struct {
	slurm.Backend // nil: a pass that submits or cancels would panic
	rows          []slurm.Row
	queries       int
	engine        *engine.Engine
}

func (f *parkedFleet) Queue(context.Context) ([]slurm.Row, error) {
	f.queries++
	return f.rows, nil
}

func (f *parkedFleet) Outcomes(_ context.Context, ids []string) (map[string]slurm.Outcome, error) {
	f.queries++
	all := make(map[string]slurm.Outcome)
	for _, id := range ids {
		all[id] = slurm.Outcome{State: slurm.Running}
	}
	return all, nil
}

func (f *parkedFleet) OutcomesSince(ctx context.Context, ids []string, _ time.Time) (map[string]slurm.Outcome, error) {
	return f.Outcomes(ctx, ids)
}

// Parked makes such a fleet of n runs.
func Parked(dir string, n int) (*parkedFleet, error) {
	root, err := engine.CreateRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &parkedFleet{}
	f.engine = &engine.Engine{Root: root, Backend: f, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	now := time.Now().UTC()
	for i := range n {
		id := "run-" + strconv.Itoa(i)
		job, wake := strconv.Itoa(2*i+1), strconv.Itoa(2*i+2)
		f.rows = append(f.rows, slurm.Row{ID: job, State: slurm.Running})
		if i > 0 {
			f.rows = append(f.rows, slurm.Row{ID: wake, State: slurm.Pending, Reason: "Dependency"})
		}
		rec := engine.Record{
			Version: 1, ID: id, Created: now, State: engine.Parked, Leg: 2, Session: "00000000-0000-4000-8000-000000000000", Sleeps: 1,
			Settings: engine.Settings{
				Agent: "bench", Workspace: filepath.Join(dir, "workspaces", id), Command: []string{"sh", "author.sh"},
				LegTime: engine.Duration{Duration: time.Hour}, CPUs: 1,
			},
			Wake: engine.Submission{Token: "t" + wake, ID: wake, At: now.Add(-time.Hour)},
			Sleep: &engine.Sleep{
				Number: 1, At: now, Note: "what to look at first when this comes back", Deadline: now.Add(24 * time.Hour),
				Launches: []engine.Launch{{
					Launch: channel.Launch{Name: "order", Command: "sh point.sh 1", Why: "does one more still pay", Minutes: 30, Array: 1},
					Job:    engine.Submission{Token: "t" + job, ID: job, At: now},
				}},
			},
		}
		raw, err := json.MarshalIndent(rec, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(root.RunDir(id), 0o700); err != nil {
			return nil, err
		}
		path := filepath.Join(root.RunDir(id), "run.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			return nil, err
		}
		if err := os.Chtimes(path, rec.Wake.At, rec.Wake.At); err != nil { // the runs have waited for a while
			return nil, err
		}
	}
	return f, nil
}

// Pass is one tick and what it asked.
func (f *parkedFleet) Pass(ctx context.Context) (took time.Duration, queries int, err error) {
	f.queries = 0
	began := time.Now()
	sum, err := f.engine.Pass(ctx)
	took = time.Since(began)
	if err == nil && (len(sum.Broken) > 0 || sum.Moving != sum.Runs) {
		err = fmt.Errorf("a pass over %d runs: %d can be read: %v", sum.Runs, sum.Moving, sum.Broken[:min(1, len(sum.Broken))])
	}
	return took, f.queries, err
}

func (l *Lab) tickRows(ctx context.Context, o Options) ([]Row, error) {
	sizes := []int{1000, 10_000}
	first, later := make([]Times, len(sizes)), make([]Times, len(sizes))
	most := 0
	for i, n := range sizes {
		dir, err := os.MkdirTemp(l.Memory, "tick-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		f, err := Parked(filepath.Join(dir, "root"), n)
		if err != nil {
			return nil, err
		}
		for range o.turns() {
			fresh := *f
			fresh.engine = &engine.Engine{Root: f.engine.Root, Backend: &fresh, Now: time.Now, Log: f.engine.Log}
			for pass := range 2 {
				took, queries, err := fresh.Pass(ctx)
				if err != nil {
					return nil, err
				}
				most = max(most, queries)
				if pass == 0 {
					first[i] = append(first[i], took)
				} else {
					later[i] = append(later[i], took)
				}
			}
		}
	}
	growth := ratio(first[1].At(0.5), first[0].At(0.5)) / float64(sizes[1]/sizes[0])
	return []Row{
		{
			What: "tick over 10,000 parked runs", Ours: first[1].String() + ", the next in the process " + short(later[1].At(0.5)),
			Yardstick: "over 1,000 " + first[0].String(), Value: first[1].At(0.5).Seconds(), Target: 2, Unit: "s",
		},
		{What: "its scheduler queries", Ours: strconv.Itoa(most), Value: float64(most), Target: 2, Regressed: 2, Unit: "queries"},
		{What: "its growth from 1,000 to 10,000", Ours: fmt.Sprintf("%.2f times the time a run", growth), Value: growth, Target: 1.5, Unit: "×"},
	}, nil
}
