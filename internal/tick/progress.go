package tick

import (
	"fmt"
	"io"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

// progress says in one line each what has changed since it last looked.
type progress struct {
	out  io.Writer
	last map[string]string
}

func newProgress(out io.Writer) *progress { return &progress{out, make(map[string]string)} }

// show prints a line for every run that does not stand as it did.
func (p *progress) show(runs []engine.Status) {
	for _, r := range runs {
		if line := headline(r); p.last[r.Run] != line {
			p.last[r.Run] = line
			fmt.Fprintf(p.out, "%s: %s\n", r.Run, line)
		}
	}
}

// headline is how a run stands, in one line.
func headline(r engine.Status) string {
	switch r.State {
	case engine.Ready:
		return fmt.Sprintf("leg %d is about to begin", r.Leg)
	case engine.Running:
		return fmt.Sprintf("leg %d: the author is at work", r.Leg)
	case engine.Parking:
		return fmt.Sprintf("sleep %d: jobs are going in", r.Sleeps)
	case engine.Parked:
		return fmt.Sprintf("sleep %d: %d of %s over, %d running", r.Sleeps, r.Over, render.Count(r.Jobs, "job"), r.Running)
	case engine.Ended:
		return fmt.Sprintf("%s: %s", r.Outcome, render.Line(r.Reason, 300))
	}
	return render.Line(r.Broken, 300)
}
