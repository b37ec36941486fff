package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/render"
	"github.com/outerloop-go/outerloop/internal/seal"
)

// maxRefusals is how many requests in a row may be refused before the run ends
// as stuck: an author that repeats itself would otherwise go on for ever, since
// a refusal costs it nothing.
const maxRefusals = 3

// finishLeg decides what the end of a leg means: what was committed is carried
// out or refused, and nothing committed ends the run. The author's processes
// are gone. It may be called again for the same leg after a crash.
func (e *Engine) finishLeg(ctx context.Context, r *Run, k *channel.Kernel, how ending) error {
	if r.ending() {
		return e.endRun(ctx, r)
	}
	raw, err := e.takeRequest(r, k)
	if refused, ok := errors.AsType[*channel.RefusedError](err); ok {
		return errors.Join(e.refuse(r, refused), k.DropCommitted())
	}
	if errors.Is(err, channel.ErrNothingCommitted) {
		return e.endWithoutRequest(ctx, r, how)
	}
	if err != nil {
		return err
	}
	request, err := channel.ParseRequest(raw)
	if err == nil {
		err = r.allowed(request)
	}
	if err == nil && request.Verdict != nil {
		return e.conclude(r, *request.Verdict)
	}
	var s seal.Seal
	if err == nil {
		s, err = e.seal(ctx, r)
	}
	if refused, ok := errors.AsType[*channel.RefusedError](err); ok {
		return e.refuse(r, refused)
	}
	if err != nil {
		return err
	}
	return e.park(ctx, r, *request.Sleep, s)
}

// takeRequest moves the committed request out of the session's reach: into the
// run's directory first, then out of the channel. One that is in the run's
// directory already was taken by a process that died, and stands.
func (e *Engine) takeRequest(r *Run, k *channel.Kernel) ([]byte, error) {
	kept := r.legPath(r.Leg, "request.json")
	raw, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		most := int64(channel.MaxSleepBytes)
		if r.Role() == Judge {
			most = channel.MaxVerdictBytes
		}
		if raw, err = k.ReadCommitted(most); err != nil {
			return nil, err
		}
		err = durable.WriteFile(kept, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping the request: %w", err)
	}
	return raw, k.DropCommitted()
}

// allowed checks a request against what the run may still ask for.
func (r *Run) allowed(request channel.Request) error {
	s := request.Sleep
	switch {
	case s == nil && r.Role() == Judge:
		return nil
	case s == nil:
		return &channel.RefusedError{
			Field: "type", Cause: "a verdict is for a judge to give, and this run is an author's",
			Cure: "stage launches or a submit and use syscall-sleep",
		}
	case r.Role() == Judge:
		return &channel.RefusedError{
			Field: "type", Cause: "a sleep is for an author to ask for, and this run is a judge's",
			Cure: "stage what you find with syscall-finding and use syscall-conclude",
		}
	case r.Budget.Sleeps < 1:
		return &channel.RefusedError{
			Cause: "no sleep is left in the run's budget",
			Cure:  "end without a request; what is in the workspace stays there",
		}
	case len(s.Launches) > r.Budget.Launches:
		return &channel.RefusedError{
			Field: "launches", Cause: fmt.Sprintf("%d launches, and %d are left in the run's budget", len(s.Launches), r.Budget.Launches),
			Cure: "sleep with no more than that; a sweep counts as one launch",
		}
	}
	return r.checkGPUs(s)
}

// seal freezes the workspace. What a bound of the seal keeps out is the
// author's to mend.
func (e *Engine) seal(ctx context.Context, r *Run) (seal.Seal, error) {
	store, err := seal.Open(ctx, r.sealPath(), seal.DefaultLimits(), e.Log)
	if err != nil {
		return seal.Seal{}, fmt.Errorf("opening the seals: %w", err)
	}
	work, err := dirfd.Open(r.Workspace)
	if err != nil {
		return seal.Seal{}, fmt.Errorf("opening the workspace: %w", err)
	}
	defer work.Close()
	s, err := store.Seal(ctx, work, fmt.Sprintf("%s leg %d", r.ID, r.Leg), e.Now())
	if limit, ok := errors.AsType[*seal.LimitError](err); ok {
		cause := strings.TrimSuffix(limit.Error(), ". "+limit.Cure)
		return seal.Seal{}, &channel.RefusedError{Field: "workspace", Cause: cause, Cure: limit.Cure}
	}
	if err != nil {
		return seal.Seal{}, fmt.Errorf("sealing the workspace: %w", err)
	}
	return s, nil
}

// refuse wakes the author with the reason, at no cost.
func (e *Engine) refuse(r *Run, refused *channel.RefusedError) error {
	e.Log.Info("request refused", "run", r.ID, "leg", r.Leg, "cause", refused.Error())
	if r.Refusals++; r.Refusals >= maxRefusals {
		return r.end(Stuck, e.Now().UTC(), "%d requests in a row were refused; the last: %s", r.Refusals, refused.Error())
	}
	next := r.Leg + 1
	if err := durable.MkdirAll(r.legPath(next, "")); err != nil {
		return err
	}
	if err := durable.WriteFile(r.legPath(next, "prompt.md"), refusalPrompt(&r.Record, refused)); err != nil {
		return fmt.Errorf("writing the prompt: %w", err)
	}
	return r.ready(next, 0)
}

// endWithoutRequest ends the run, in the way its session's program did. A judge is there
// for its verdict, and has failed without one.
func (e *Engine) endWithoutRequest(ctx context.Context, r *Run, how ending) error {
	now := e.Now().UTC()
	switch {
	case how.Cause == byKernel:
		// Whoever ended the leg did not end the run.
		return e.retryLeg(ctx, r)
	case how.Cause == byWalltime:
		return r.end(Failed, now, "leg %d was at its walltime of %s without a request", r.Leg, r.LegTime)
	case how.Status != 0:
		return r.end(Failed, now, "the %s of leg %d ended with status %d and without a request%s", r.Role(), r.Leg, how.Status, r.lastWords())
	case r.Role() == Judge:
		return r.end(Failed, now, "the judge of leg %d ended without a verdict", r.Leg)
	}
	return r.end(Finished, now, "the author of leg %d ended without a request", r.Leg)
}

// lastWords is the last line of the leg's standard error, which says more of a
// failure than its status does.
func (r *Run) lastWords() string {
	text, _ := tail(r.legPath(r.Leg, ""), "stderr")
	text = strings.TrimRight(text, " \n")
	line := render.Line(text[strings.LastIndexByte(text, '\n')+1:], 200)
	if line == "" {
		return ""
	}
	return " (" + line + ")"
}
