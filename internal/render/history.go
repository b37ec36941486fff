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
	times := newClock(a.At, zone)
	if len(a.History) == 0 {
		fmt.Fprintf(&out, "No launch yet in this run, as of %s.\n", times.at(a.At))
		return out.Bytes()
	}
	fmt.Fprintf(&out, "%s of this run as of %s, oldest first.\n", Count(len(a.History), "launch"), times.at(a.At))
	for i := range a.History {
		entry(&out, &a.History[i], times)
	}
	return out.Bytes()
}

// A run may have tens of thousands of launches, so the two below do without the
// formatting that costs most of the time.

func entry(out *bytes.Buffer, e *channel.HistoryEntry, times clock) {
	ids := make([]string, len(e.JobIDs))
	for i, id := range e.JobIDs {
		ids[i] = word(id)
	}
	write(out, "\nsleep ", strconv.Itoa(e.Sleep), ": ", Line(e.Name, maxName), ", ",
		Shape(channel.Launch{Minutes: e.Minutes, Array: e.Array}),
		", submitted ", times.at(e.SubmittedAt), " as job ", or(strings.Join(ids, ", "), "?"), "\n")
	if e.Why != "" {
		write(out, "  why: ", Line(e.Why, channel.MaxWhyChars), "\n")
	}
	for i := range e.Jobs {
		ended(out, &e.Jobs[i], times)
	}
	if missing := max(e.Array, 1) - len(e.Jobs); missing > 0 {
		write(out, "  ", Count(missing, "job"), " not back yet\n")
	}
}

// ended is one job: its exit status, and the scheduler's word where that says
// more than the status does.
func ended(out *bytes.Buffer, j *channel.HistoryJob, times clock) {
	how := or(word(j.State), "no exit status")
	if j.ExitCode != nil {
		how = "exit " + strconv.Itoa(*j.ExitCode)
		if j.State != "" && j.State != "COMPLETED" {
			how += " (" + word(j.State) + ")"
		}
	}
	write(out, "  ", Line(j.Name, maxName), ": ", how, " at ", times.at(j.EndedAt), "\n")
}

func write(out *bytes.Buffer, parts ...string) {
	for _, p := range parts {
		out.WriteString(p)
	}
}
