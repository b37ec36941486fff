package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

// job is one job of a sleep as it came back: a launch, a task of a sweep, or
// the gate.
type job struct {
	name  string // <launch>, <launch>.<i>, or "gate"
	dir   string
	id    string // the scheduler's
	token string // that the job carries, where the id may be another's by now
	task  int    // -1 for none
	over  bool
	code  *int // what the command returned
	state slurm.State
	note  string // why it did not run, in the scheduler's words
	ended time.Time

	elapsed slurm.Duration
}

// succeeded says whether the command ran and returned 0.
func (j *job) succeeded() bool { return j.code != nil && *j.code == 0 }

// gathered is everything that came back from a sleep.
type gathered struct {
	launches [][]job // by launch, by task
	gate     *job
}

// jobs lists all jobs that came back.
func (g *gathered) jobs() []*job {
	var all []*job
	for i := range g.launches {
		for j := range g.launches[i] {
			all = append(all, &g.launches[i][j])
		}
	}
	if g.gate != nil {
		all = append(all, g.gate)
	}
	return all
}

// gather learns how the jobs of a run's sleep ended. over is false while one of
// them may still end and the deadline has not passed; an error means that it
// could not be learnt, and nothing follows from it.
func (e *Engine) gather(ctx context.Context, r *Run) (g gathered, over bool, err error) {
	s := r.Sleep
	for i := range s.Launches {
		l := &s.Launches[i]
		jobs := make([]job, l.Array)
		for t := range jobs {
			jobs[t] = job{name: l.Name, dir: r.jobDir(l.Name), id: l.Job.ID, token: l.Job.Token, task: -1, note: l.Job.Refused}
			if l.sweep() {
				jobs[t] = job{
					name: l.Name + "." + strconv.Itoa(t), dir: r.jobDir(l.Name) + "." + strconv.Itoa(t),
					id: slurm.TaskID(l.Job.ID, t), token: l.Job.Token, task: t, note: l.Job.Refused,
				}
			}
		}
		g.launches = append(g.launches, jobs)
	}
	if s.Gate != nil {
		g.gate = &job{name: "gate", dir: r.gateDir(), id: s.Gate.Job.ID, token: s.Gate.Job.Token, task: -1, note: s.Gate.Job.Refused}
	}
	if err := e.settle(ctx, g.jobs(), r.GPUs > 0 && r.Budget.GPUHours != nil); err != nil {
		return gathered{}, false, err
	}
	over = true
	for _, j := range g.jobs() {
		over = over && j.over
	}
	if over || e.Now().Before(s.Deadline) {
		return g, over, nil
	}
	return g, true, e.giveUp(ctx, &g)
}

// settle fills in how jobs stand. What a job's runner has written itself, last
// of all it did, is believed first; without it the scheduler says why. It is asked
// once, and only for what the runners have not said.
func (e *Engine) settle(ctx context.Context, jobs []*job, wantTimes bool) error {
	var ask []string
	for _, j := range jobs {
		if j.note != "" {
			j.over, j.state, j.ended = true, slurm.Failed, e.Now()
			continue
		}
		var err error
		if j.code, j.ended, err = readExitCode(j.dir); err != nil {
			return err
		}
		if j.code == nil || wantTimes {
			ask = append(ask, j.id)
		}
	}
	var outcomes map[string]slurm.Outcome
	if len(ask) > 0 {
		var err error
		if outcomes, err = e.outcomes(ctx, ask); err != nil {
			return fmt.Errorf("asking how the jobs ended: %w", err)
		}
	}
	for _, j := range jobs {
		if j.note != "" {
			continue
		}
		outcome, known := outcomes[j.id]
		if slurm.OtherJob(outcome.Token, j.token) {
			outcome, known = slurm.Outcome{}, false
		}
		j.state, j.elapsed = outcome.State, outcome.Elapsed
		// A backend that has no word of a job is sure that it neither waits nor runs.
		j.over = j.code != nil || !known || outcome.State.Terminal()
		if !known {
			j.state = slurm.Unknown
		}
		switch {
		case j.code != nil && !outcome.State.Terminal():
			// The scheduler was not asked, or its books lag behind the file.
			j.state = slurm.Completed
			if *j.code != 0 {
				j.state = slurm.Failed
			}
		case j.over && j.code == nil:
			j.ended = e.Now()
		}
	}
	return nil
}

// giveUp cancels what has not ended by the deadline.
func (e *Engine) giveUp(ctx context.Context, g *gathered) error {
	var late []string
	for _, j := range g.jobs() {
		if !j.over {
			late = append(late, j.id)
			j.note = fmt.Sprintf("not over by its deadline and cancelled; it was %s", stateOr(j.state, "unknown to the scheduler"))
			j.over, j.state, j.ended = true, slurm.Cancelled, e.Now()
		}
	}
	if err := e.cancel(ctx, late...); err != nil {
		return fmt.Errorf("cancelling jobs past their deadline: %w", err)
	}
	return nil
}

func stateOr(s slurm.State, none string) string {
	if s == "" {
		return none
	}
	return string(s)
}

// readExitCode returns what a job's runner wrote when it was done, nil before,
// and when it was. A file that holds no number was not written by a runner.
func readExitCode(dir string) (*int, time.Time, error) {
	path := filepath.Join(dir, "exit-code")
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading how a job ended: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading how a job ended: %w", err)
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading how a job ended: %s: %w", path, err)
	}
	return &code, st.ModTime(), nil
}

// record writes what came back into the ledger, once for each job.
func (g *gathered) record(ctx context.Context, r *Run) error {
	var records []ledger.Ended
	for _, jobs := range g.launches {
		for _, j := range jobs {
			records = append(records, ledger.Ended{
				Sleep: r.Sleep.Number, Name: j.name, ExitCode: j.code, State: string(j.state), At: j.ended,
			})
		}
	}
	_, err := ledger.AppendEnded(ctx, r.ledgerPath(), records...)
	return err
}
