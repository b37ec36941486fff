package render

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// History shows a run's launches, oldest first, and how their jobs ended.
func History(a channel.HistoryAnswer, zone *time.Location) []byte {
	var out bytes.Buffer
	if len(a.History) == 0 {
		fmt.Fprintf(&out, "No launch yet in this run, as of %s.\n", clock(a.At, a.At, zone))
		return out.Bytes()
	}
	fmt.Fprintf(&out, "%s of this run as of %s, oldest first.\n",
		Count(len(a.History), "launch"), clock(a.At, a.At, zone))
	for i := range a.History {
		entry(&out, &a.History[i], a.At, zone)
	}
	return out.Bytes()
}

func entry(out *bytes.Buffer, e *channel.HistoryEntry, at float64, zone *time.Location) {
	ids := make([]string, len(e.JobIDs))
	for i, id := range e.JobIDs {
		ids[i] = word(id)
	}
	fmt.Fprintf(out, "\nsleep %d: %s, %s, submitted %s as job %s\n", e.Sleep, Line(e.Name, maxName),
		Shape(channel.Launch{Minutes: e.Minutes, Array: e.Array}),
		clock(e.SubmittedAt, at, zone), or(strings.Join(ids, ", "), "?"))
	if e.Why != "" {
		fmt.Fprintf(out, "  why: %s\n", Line(e.Why, channel.MaxWhyChars))
	}
	for i := range e.Jobs {
		ended(out, &e.Jobs[i], at, zone)
	}
	if missing := max(e.Array, 1) - len(e.Jobs); missing > 0 {
		fmt.Fprintf(out, "  %s not back yet\n", Count(missing, "job"))
	}
}

// ended is one job: its exit status, and the scheduler's word where that says
// more than the status does.
func ended(out *bytes.Buffer, j *channel.HistoryJob, at float64, zone *time.Location) {
	how := or(word(j.State), "no exit status")
	if j.ExitCode != nil {
		how = "exit " + strconv.Itoa(*j.ExitCode)
		if j.State != "" && j.State != "COMPLETED" {
			how += " (" + word(j.State) + ")"
		}
	}
	fmt.Fprintf(out, "  %s: %s at %s\n", Line(j.Name, maxName), how, clock(j.EndedAt, at, zone))
}
