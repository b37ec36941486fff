package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// legWait is how long a leg's process waits for the one that queued it, which
// has the run until its last launch is in.
const legWait = 5 * time.Minute

// Leg is the body of the process that starts a leg and stays until it is over:
// it brings back what a sleep has yielded, runs the author, and carries out
// what the author has committed by its end. One that comes for a leg that is
// over or under way returns without doing anything.
//
// When the context ends the author is told to end, and what it has committed
// by then counts.
func (e *Engine) Leg(ctx context.Context, id string, leg int) error {
	r, err := openRun(ctx, e.Root, id, legWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.State == Ended || r.Leg != leg {
		e.Log.Info("this leg is not the run's next; nothing to do", "run", id, "leg", leg, "state", r.State)
		return nil
	}
	if r.ending() {
		return e.endRun(ctx, r)
	}
	switch r.State {
	case Running, Parking:
		// A process before this one died in the middle.
		return e.takeOn(ctx, r)
	case Parked:
		if ended, err := e.wake(ctx, r); ended || err != nil {
			return err
		}
	}
	return e.runLeg(ctx, r)
}

// errNotOver says that a wake came before the jobs it waits for were over.
var errNotOver = errors.New("jobs of the sleep are not over yet")

// wake brings back what the run's sleep has yielded and writes the leg's
// prompt. It says whether that was the end of the run. Nothing is lost when it
// dies on the way: every part may be repeated, and the record changes last.
func (e *Engine) wake(ctx context.Context, r *Run) (ended bool, err error) {
	g, over, err := e.gather(ctx, r)
	if err != nil {
		return false, err
	}
	if !over {
		return false, errNotOver
	}
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		return false, err
	}
	defer k.Close()
	deliveries := make(map[*job][]delivery)
	for i, jobs := range g.launches {
		for t := range jobs {
			j := &jobs[t]
			if deliveries[j], err = deliver(k, &r.Sleep.Launches[i], j); err != nil {
				return false, err
			}
		}
	}
	if err := g.record(ctx, r); err != nil {
		return false, err
	}
	for i := range r.Sleep.Launches {
		if r.Sleep.Launches[i].Job.Refused != "" {
			r.Budget.Launches++ // it never ran
		}
	}
	r.refundGPUs(&g)
	if r.Sleep.Submit {
		switch {
		case g.gate == nil:
			return true, r.end(Submitted, e.Now().UTC(), "the author submitted; no gate is configured")
		case g.gate.succeeded():
			return true, r.end(Accepted, e.Now().UTC(), "the gate let the submit through")
		}
	}
	if err := durable.MkdirAll(r.legPath(r.Leg, "")); err != nil {
		return false, err
	}
	if err := durable.WriteFile(r.legPath(r.Leg, "prompt.md"), wakePrompt(&r.Record, &g, deliveries)); err != nil {
		return false, fmt.Errorf("writing the prompt: %w", err)
	}
	r.State = Ready
	r.Sleep = nil
	return false, nil // runLeg saves: the leg and its prompt go together
}

// runLeg runs the author and carries out what it has committed.
func (e *Engine) runLeg(ctx context.Context, r *Run) error {
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	prompt, err := e.prepareChannel(r, k)
	if err != nil {
		return err
	}
	r.State = Running
	if err := r.save(); err != nil {
		return err
	}
	e.Log.Info("leg begins", "run", r.ID, "leg", r.Leg)
	result, err := e.session(ctx, r, k, prompt)
	if err != nil {
		return fmt.Errorf("running the author of %s: %w", r.ID, err)
	}
	e.Log.Info("leg is over", "run", r.ID, "leg", r.Leg, "status", result.Code)
	if err := writeJSON(r.legPath(r.Leg, "ended.json"), result); err != nil {
		return err
	}
	// The author is gone; what it asked for is carried out also when this
	// process has been told to end.
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), legSlack*time.Minute)
	defer cancel()
	return e.finishLeg(finish, r, k, result)
}

// prepareChannel puts into the channel what the leg begins with and takes out
// what an earlier one has left staged or committed.
func (e *Engine) prepareChannel(r *Run, k *channel.Kernel) (prompt []byte, err error) {
	if prompt, err = os.ReadFile(r.legPath(r.Leg, "prompt.md")); err != nil {
		return nil, fmt.Errorf("reading the prompt: %w", err)
	}
	task, err := os.ReadFile(r.path("task.md"))
	if err != nil {
		return nil, fmt.Errorf("reading the task: %w", err)
	}
	if err := errors.Join(
		k.DropStaged(),
		k.DropCommitted(),
		k.WritePrompt(prompt, task),
		k.WriteBudget(r.channelBudget()),
	); err != nil {
		return nil, fmt.Errorf("preparing the channel: %w", err)
	}
	return prompt, nil
}

// session runs the author beside a watcher that answers its questions.
func (e *Engine) session(ctx context.Context, r *Run, k *channel.Kernel, prompt []byte) (sandbox.Result, error) {
	stop, err := e.watch(r, k)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer stop()
	command, err := r.Sandbox.Command(e.authorSpec(r), r.Command)
	if err != nil {
		return sandbox.Result{}, err
	}
	files, err := openSession(r, prompt)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer files.close()
	return command.Run(ctx, files.stdio(), sandbox.Limits{Walltime: r.LegTime.Duration})
}

func (e *Engine) authorSpec(r *Run) sandbox.Spec {
	return sandbox.Spec{
		Workspace: r.Workspace,
		Home:      r.path("home"),
		Verbs:     e.Program.Verbs(),
		Read:      r.Read,
		Network:   r.Network,
		Shim:      e.Program.Command("shim"),
		Env: sandbox.Environment(e.Program.Verbs(), r.path("home"), append(slices.Clone(e.Author),
			"OUTERLOOP_WORKSPACE="+r.Workspace,
			"OUTERLOOP_RUN="+r.ID,
			"OUTERLOOP_AGENT="+r.Agent,
			"OUTERLOOP_LEG="+strconv.Itoa(r.Leg),
			"OUTERLOOP_SESSION="+r.Session,
		)...),
	}
}

// sessionFiles are an author's standard streams.
type sessionFiles struct{ in, out, err *os.File }

// openSession opens the streams. The prompt is read from a file, which ends
// where it ends and can be read again by whoever looks; output of an earlier
// attempt of the same leg is kept and added to.
func openSession(r *Run, prompt []byte) (f sessionFiles, err error) {
	if f.in, err = os.Open(r.legPath(r.Leg, "prompt.md")); err != nil {
		return f, err
	}
	appendTo := func(name string) *os.File {
		file, openErr := os.OpenFile(r.legPath(r.Leg, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		err = errors.Join(err, openErr)
		return file
	}
	f.out, f.err = appendTo("stdout"), appendTo("stderr")
	if err != nil {
		f.close()
	}
	return f, err
}

func (f sessionFiles) stdio() sandbox.Stdio { return sandbox.Stdio{In: f.in, Out: f.out, Err: f.err} }

func (f sessionFiles) close() {
	for _, file := range []*os.File{f.in, f.out, f.err} {
		if file != nil {
			file.Close()
		}
	}
}
