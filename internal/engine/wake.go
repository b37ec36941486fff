package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/slurm"
)

// errNotOver says that a wake came before the jobs it waits for were over.
var errNotOver = errors.New("jobs of the sleep are not over yet")

// wake brings back what the run's sleep has yielded and writes the leg's
// prompt. It says whether the leg is to begin; it is not where the run has
// ended, or where the gate has to be run again. Nothing is lost when it dies on
// the way: every part may be repeated, and the record changes last.
func (e *Engine) wake(ctx context.Context, r *Run) (begin bool, err error) {
	g, over, err := e.gather(ctx, r)
	if err != nil {
		return false, err
	}
	if !over {
		return false, errNotOver
	}
	if err := r.sweepJobs(&g); err != nil {
		return false, err
	}
	// First of all, since nothing but the kernel's own disk is needed for it.
	if err := g.record(ctx, r); err != nil {
		return false, err
	}
	if again, err := e.measureAgain(ctx, r, &g); again || err != nil {
		return false, err
	}
	budget := r.Budget
	defer func() {
		if err != nil {
			r.Budget = budget // what comes back must not come back twice
		}
	}()
	r.refund(&g)
	if r.Sleep.Submit && (g.gate == nil || g.gate.succeeded()) {
		if err := e.bringBack(r, &g, nil); err != nil {
			return false, err
		}
		if g.gate == nil {
			return false, r.end(Submitted, e.Now().UTC(), "the author submitted; no gate is configured")
		}
		return false, r.end(Accepted, e.Now().UTC(), "the gate let the submit through")
	}
	deliveries := make(map[*job][]delivery)
	if err := e.bringBack(r, &g, deliveries); err != nil {
		return false, err
	}
	if err := durable.MkdirAll(r.legPath(r.Leg, "")); err != nil {
		return false, err
	}
	if err := durable.WriteFile(r.legPath(r.Leg, "prompt.md"), wakePrompt(&r.Record, &g, deliveries)); err != nil {
		return false, fmt.Errorf("writing the prompt: %w", err)
	}
	r.State = Ready
	r.Sleep = nil
	return true, nil // runLeg saves: the leg and its prompt go together
}

// bringBack delivers the artifacts of all jobs, and says in deliveries what
// became of each.
func (e *Engine) bringBack(r *Run, g *gathered, deliveries map[*job][]delivery) error {
	if err := r.checkWorkspace(); err != nil {
		return err
	}
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	for i, jobs := range g.launches {
		for t := range jobs {
			done, err := deliver(k, &r.Sleep.Launches[i], &jobs[t])
			if err != nil {
				return err
			}
			if deliveries != nil {
				deliveries[&jobs[t]] = done
			}
		}
	}
	return nil
}

// refund gives back what a sleep was charged for and did not get.
func (r *Run) refund(g *gathered) {
	for i := range r.Sleep.Launches {
		if r.Sleep.Launches[i].Job.Refused != "" {
			r.Budget.Launches++ // it never ran
		}
	}
	r.refundGPUs(g)
	if g.gate != nil && !g.gate.measured() {
		r.Budget.Sleeps++
	}
}

// maxGates is how often a gate is run that dies before it has measured.
const maxGates = 3

// measured says whether a gate came to a verdict. One that was killed, or whose
// node died, says nothing about the submit; one that ran out of its walltime does.
func (j *job) measured() bool { return j.code != nil || j.state == slurm.Timeout }

// measureAgain runs the gate once more where it died, as a new job in a new
// directory, and parks the run behind it.
func (e *Engine) measureAgain(ctx context.Context, r *Run, g *gathered) (bool, error) {
	if g.gate == nil || g.gate.measured() || r.Sleep.Gate.Job.Refused != "" || r.Sleep.Gate.Attempt+1 >= maxGates {
		return false, nil
	}
	e.Log.Warn("the gate died; it is run again", "run", r.ID, "state", g.gate.state)
	r.Sleep.Gate.Attempt++
	r.Sleep.Gate.Job = e.intend()
	r.Wake = e.intend()
	r.State = Parking
	if err := r.save(); err != nil {
		return true, err
	}
	return true, e.launch(ctx, r, true)
}
