package local

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Queue returns the tasks that wait or run, in order of submission. A job whose
// record cannot be read is one row in the state [slurm.Unknown], which ends nothing: it
// may well be running.
func (b *Backend) Queue(ctx context.Context) ([]slurm.Row, error) {
	v, err := b.store.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for the queue: %w", err)
	}
	defer v.leave()
	v.pass()
	var rows []slurm.Row
	for _, j := range v.jobs {
		for i := range j.Tasks {
			if !j.Tasks[i].State.Terminal() {
				rows = append(rows, j.row(i, v.at))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.broken)) {
		rows = append(rows, slurm.Row{ID: strconv.Itoa(id), State: slurm.Unknown, Partition: "local", Reason: "None", GRES: "N/A"})
	}
	return rows, nil
}

func (j *job) row(i int, now time.Time) slurm.Row {
	out := j.outcome(i, now)
	row := slurm.Row{
		ID:        j.taskID(i),
		Name:      j.Spec.Name,
		State:     out.State,
		Elapsed:   slurm.FormatElapsed(out.Elapsed.Duration),
		Limit:     slurm.FormatElapsed(j.Walltime),
		Partition: "local",
		Submitted: j.Submitted.Local().Format("2006-01-02T15:04:05"),
		Reason:    out.Reason,
		GRES:      "N/A",
		Account:   j.Spec.Account,
		Throttle:  j.Spec.Throttle,
		Token:     j.Spec.Token,
	}
	if row.Reason == "" {
		row.Reason = "None"
	}
	if j.Spec.GPUs > 0 {
		row.GRES = "gpu:" + strconv.Itoa(j.Spec.GPUs)
	}
	return row
}

// OutcomesSince is Outcomes: there is nobody to be spared a question.
func (b *Backend) OutcomesSince(ctx context.Context, ids []string, _ time.Time) (map[string]slurm.Outcome, error) {
	return b.Outcomes(ctx, ids)
}

// Outcomes says how jobs stand. An array as a whole runs while one of its tasks
// does, and ends in the state COMPLETED only if all of them did, else in that of
// the first that did not; it has neither exit code nor run time. Ended jobs are
// known for a week at least, and the newest thousand for longer.
func (b *Backend) Outcomes(ctx context.Context, ids []string) (map[string]slurm.Outcome, error) {
	v, err := b.store.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask how %d jobs stand: %w", len(ids), err)
	}
	defer v.leave()
	v.pass()
	outcomes := make(map[string]slurm.Outcome, len(ids))
	for _, id := range ids {
		n, i, ok := parseID(id)
		if !ok {
			continue
		}
		j, err := v.find(n)
		switch {
		case err != nil:
			outcomes[id] = slurm.Outcome{State: slurm.Unknown}
		case j == nil || i >= len(j.Tasks) || (i >= 0 && j.Spec.Array == 0):
		case i < 0 && j.Spec.Array > 0:
			outcomes[id] = j.summary(v.at)
		default:
			outcomes[id] = j.outcome(max(i, 0), v.at)
		}
	}
	return outcomes, nil
}

// find returns a live or ended job, nil for one that is not known, and an error
// for one whose record cannot be read.
func (v *visit) find(id int) (*job, error) {
	if j := v.byID[id]; j != nil {
		return j, nil
	}
	if err := v.broken[id]; err != nil {
		return nil, err
	}
	j, err := readJob(v.endedDir(id), id)
	if err != nil {
		v.report(id, err)
	}
	return j, err
}

func (j *job) outcome(i int, now time.Time) slurm.Outcome {
	t := &j.Tasks[i]
	out := slurm.Outcome{State: t.State, ExitCode: t.ExitCode}
	if !t.State.Terminal() {
		out.Reason = t.reason
	}
	end := t.Ended
	if t.State == slurm.Running {
		end = now
		if t.Cancel {
			out.State = slurm.Completing
		}
	}
	if !t.Started.IsZero() && !end.IsZero() {
		// A clock that was set back must not make a run time negative.
		out.Elapsed = slurm.Duration{Duration: max(end.Sub(t.Started), 0), Known: true}
	}
	return out
}

func (j *job) summary(now time.Time) slurm.Outcome {
	outs := make([]slurm.Outcome, len(j.Tasks))
	for i := range j.Tasks {
		outs[i] = j.outcome(i, now)
	}
	first := func(is func(slurm.State) bool) int {
		return slices.IndexFunc(outs, func(o slurm.Outcome) bool { return is(o.State) })
	}
	for _, is := range []func(slurm.State) bool{
		func(s slurm.State) bool { return s == slurm.Running || s == slurm.Completing },
		func(s slurm.State) bool { return !s.Terminal() },
		func(s slurm.State) bool { return s != slurm.Completed },
	} {
		if i := first(is); i >= 0 {
			return slurm.Outcome{State: outs[i].State, Reason: outs[i].Reason}
		}
	}
	return slurm.Outcome{State: slurm.Completed}
}
