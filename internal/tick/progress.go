package tick

import (
	"fmt"
	"io"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

// progress says in one line each what has changed since it last looked.
type progress struct {
	out   io.Writer
	since time.Time // what ended before is no news
	last  map[string]string
}

func newProgress(out io.Writer, now time.Time) *progress {
	return &progress{out, now, make(map[string]string)}
}

// show prints a line for every run that does not stand as it did. Broken records are
// left to the log.
func (p *progress) show(runs []engine.Status) {
	for _, r := range runs {
		if r.Broken != "" || r.State == engine.Ended && r.Ended.Before(p.since) {
			continue
		}
		if line := headline(r); p.last[r.Run] != line {
			p.last[r.Run] = line
			fmt.Fprintf(p.out, "%s: %s\n", r.Run, line)
		}
	}
}

// headline is how a run stands, in one line that says all.
func headline(r engine.Status) string {
	switch r.State {
	case engine.Running:
		return fmt.Sprintf("leg %d: the %s is at work", r.Leg, r.Role)
	case engine.Parked:
		return fmt.Sprintf("sleep %d: %d of %s over, %d running", r.Sleeps, r.Over, render.Count(r.Jobs, "job"), r.Running)
	case engine.Ended:
		return fmt.Sprintf("%s: %s", r.Outcome, detail(r))
	}
	return detail(r)
}

// detail is what a table's other columns do not say of how a run stands. What an
// operator can do about it comes last, and is never cut.
func detail(r engine.Status) string {
	switch {
	case r.State != engine.Ended && r.Trouble != "":
		return plainly(r) + "; it is tried again after: " + render.Line(r.Trouble, 200)
	case r.Outcome == engine.Stuck || r.Outcome == engine.Failed:
		log := "outerloop-tick logs "
		if r.Outcome == engine.Stuck {
			log += "--kernel "
		}
		return render.Line(r.Reason, 300) + "; see " + log + r.Run + ", then outerloop-tick retry " + r.Run
	}
	return plainly(r)
}

func plainly(r engine.Status) string {
	switch r.State {
	case engine.Ready:
		return fmt.Sprintf("leg %d is about to begin", r.Leg)
	case engine.Running:
		return "the " + r.Role + " is at work"
	case engine.Parking:
		return fmt.Sprintf("sleep %d: jobs are going in", r.Sleeps)
	case engine.Parked:
		return fmt.Sprintf("sleep %d: %d running, %d waiting", r.Sleeps, r.Running, r.Jobs-r.Over-r.Running)
	case engine.Ended:
		return render.Line(r.Reason, 300)
	}
	return render.Line(r.Broken, 300)
}
