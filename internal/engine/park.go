package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/seal"
	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

// patience is how long a sleep waits for its jobs beyond the time they may run:
// a busy cluster may need a day to begin. Then what is left is cancelled and
// the author is woken with what there is.
const patience = 24 * time.Hour

// park carries out a request that was accepted: it charges the budgets, sends
// the launches in, and queues the wake behind them. The one save at its
// beginning makes the request accepted; whatever dies after it, launch goes on
// from there.
func (e *Engine) park(ctx context.Context, r *Run, request channel.Sleep, frozen seal.Seal) error {
	now := e.Now().UTC()
	r.Sleeps++
	r.Budget.Sleeps--
	r.Budget.Launches -= len(request.Launches)
	r.chargeGPUs(r.gpuCost(&request))
	r.Refusals = 0
	s := &Sleep{
		Number: r.Sleeps, At: now, Commit: frozen.Commit, Note: request.Note, Submit: request.Submit,
		LeftOut:  leftOut(frozen),
		Launches: make([]Launch, len(request.Launches)),
		Deadline: now.Add(patience),
	}
	for i, l := range request.Launches {
		s.Launches[i] = Launch{l, e.intend()}
		if at := now.Add(patience + serialTime(l, r.throttle(l))); at.After(s.Deadline) {
			s.Deadline = at
		}
	}
	if request.Submit {
		r.Commit = frozen.Commit
		if err := durable.WriteFile(r.path("report.md"), []byte(request.Report+"\n")); err != nil {
			return fmt.Errorf("keeping the report: %w", err)
		}
		if r.Gate != "" {
			minutes := request.EvalMinutes
			if minutes == 0 {
				minutes = r.GateMinutes
			}
			s.Gate = &Gate{Minutes: minutes, Job: e.intend()}
			if at := now.Add(patience + time.Duration(minutes)*time.Minute); at.After(s.Deadline) {
				s.Deadline = at
			}
		}
	}
	r.Sleep = s
	if s.Submit && len(s.submissions()) == 0 {
		return r.end(Submitted, now, "the author submitted; no gate is configured")
	}
	r.State = Parking
	r.Leg++
	r.settled()
	r.Wake = e.intend()
	if err := r.save(); err != nil {
		return err
	}
	return e.launch(ctx, r, true)
}

// leftOut is what the author has to know of its seal: what is missing in it
// although no rule of its own leaves it out.
func leftOut(s seal.Seal) []string {
	var lines []string
	for _, l := range s.LeftOut {
		lines = append(lines, l.String())
	}
	if s.LeftOutMore > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", s.LeftOutMore))
	}
	return lines
}

// serialTime is how long a launch may run when no more than width of its tasks
// run at a time, 0 for all of them.
func serialTime(l channel.Launch, width int) time.Duration {
	if width == 0 {
		width = l.Array
	}
	waves := (l.Array + width - 1) / width
	return time.Duration(waves*l.Minutes) * time.Minute
}

// launch sends in what a parking run has not sent yet. It may be called again
// and again, by any process that has the run; unless fresh, what an earlier one
// has sent is found and not sent twice.
func (e *Engine) launch(ctx context.Context, r *Run, fresh bool) error {
	for i := range r.Sleep.Launches {
		l := &r.Sleep.Launches[i]
		if l.Job.ID != "" || l.Job.Refused != "" {
			continue
		}
		if err := e.prepareLaunch(r, l); err != nil {
			return e.keep(r, fmt.Errorf("preparing launch %s: %w", l.Name, err))
		}
		if err := e.submit(ctx, &l.Job, e.launchSpec(r, l), fresh); err != nil {
			return e.keep(r, fmt.Errorf("submitting launch %s: %w", l.Name, err))
		}
	}
	if g := r.Sleep.Gate; g != nil {
		if err := e.prepareGate(r); err != nil {
			return e.keep(r, fmt.Errorf("preparing the gate: %w", err))
		}
		if err := e.submit(ctx, &g.Job, e.gateSpec(r), fresh); err != nil {
			return e.keep(r, fmt.Errorf("submitting the gate: %w", err))
		}
	}
	if err := e.submit(ctx, &r.Wake, e.wakeSpec(r), fresh); err != nil {
		return e.keep(r, fmt.Errorf("submitting the wake: %w", err))
	}
	if err := recordLaunches(ctx, r); err != nil {
		return e.keep(r, err)
	}
	r.State = Parked
	r.settled() // the wake is another step, with attempts of its own
	return r.save()
}

// keep saves what is known of the submissions before an error goes up, so that
// the next process has less to ask the scheduler.
func (e *Engine) keep(r *Run, err error) error { return errors.Join(err, r.save()) }

// recordLaunches writes the sleep's launches into the ledger, once: a second
// record of the same launch is not appended.
func recordLaunches(ctx context.Context, r *Run) error {
	records := make([]ledger.Submitted, len(r.Sleep.Launches))
	for i := range records {
		l := &r.Sleep.Launches[i]
		var ids []string
		if l.Job.ID != "" {
			ids = []string{l.Job.ID}
		}
		records[i] = ledger.Submitted{
			Sleep: r.Sleep.Number, Name: l.Name, Why: l.Why, Minutes: l.Minutes, Array: l.Array,
			JobIDs: ids, At: l.Job.At,
		}
	}
	_, err := ledger.AppendSubmitted(ctx, r.ledgerPath(), records...)
	return err
}

func (e *Engine) launchSpec(r *Run, l *Launch) slurm.JobSpec {
	spec := e.jobSpec(r, kindLaunch, l.Name, r.jobDir(l.Name), l.Minutes)
	spec.Array = l.tasks()
	spec.Throttle = r.throttle(l.Launch)
	return spec
}

func (e *Engine) gateSpec(r *Run) slurm.JobSpec {
	return e.jobSpec(r, kindEval, strconv.Itoa(r.Sleep.Number), r.gateDir(), r.Sleep.Gate.Minutes)
}

// jobSpec is a job that runs an author's or an operator's command on a seal.
func (e *Engine) jobSpec(r *Run, kind, name, dir string, minutes int) slurm.JobSpec {
	return slurm.JobSpec{
		Name:     r.jobName(kind, name),
		Command:  e.Program.Command("job", "--root", e.Root.Path(), "--dir", dir),
		Dir:      r.dir,
		Env:      e.Env,
		Output:   pattern(r.path("jobs.log")),
		Minutes:  minutes,
		CPUs:     r.CPUs,
		MemoryMB: r.MemoryMB,
		GPUs:     r.GPUs,
	}
}

// pattern makes a filename pattern, see [slurm.JobSpec], of a path that is none.
func pattern(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// legSlack is what a leg's process has beyond its author's walltime to deliver
// results before, and to seal and submit after.
const legSlack = 15

// wakeSpec is the job that starts the run's next leg, behind the jobs of its
// sleep. It takes no CPU slot: an author thinks elsewhere, and waits mostly.
func (e *Engine) wakeSpec(r *Run) slurm.JobSpec {
	kind := kindWake
	if r.Leg == 0 {
		kind = kindLeg
	}
	spec := slurm.JobSpec{
		Name:    r.jobName(kind, strconv.Itoa(r.Leg)),
		Command: e.Program.Command("leg", "--root", e.Root.Path(), "--run", r.ID, "--leg", strconv.Itoa(r.Leg)),
		Dir:     r.dir,
		Env:     slices.Concat(e.Env, e.Author),
		Output:  pattern(r.path("kernel.log")),
		Minutes: r.LegTime.minutes() + legSlack,
	}
	if r.Sleep != nil && e.Now().Before(r.Sleep.Deadline) {
		spec.After = r.Sleep.jobIDs()
	}
	return spec
}
