package page

import (
	"fmt"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// launch is a launch as a row of the time line.
type launch struct {
	Name, Why     string
	Sleep         int
	State         state
	Words         string // how many of its jobs are done
	Waited, Ran   string
	Limit         string
	Jobs          []job
	Height, Pitch int // of the drawing, and of one job in it, in pixels
	One           bool
}

// job is one bar, its wait and its run, and a line of the table.
type job struct {
	Task        string
	State       state
	Exit        string
	Waited, Ran string
	Wait, Run   bar
	Y, Thick    int
}

// Heights of a job's bar, in pixels.
const (
	thickBar = 12
	thinBar  = 5
)

func launchView(l *engine.LaunchStory, at axis, now time.Time, runEnded bool) launch {
	v := launch{
		Name: line(l.Name, 64), Why: line(l.Why, maxWhy), Sleep: l.Sleep,
		Limit: span(time.Duration(l.Minutes) * time.Minute), One: len(l.Jobs) == 1,
	}
	thick := thickBar
	if !v.One {
		thick = thinBar
	}
	v.Pitch = thick + 2
	v.Height = v.Pitch*len(l.Jobs) + 4
	var waits, runs spread
	done, failed, open, running := 0, 0, 0, 0
	for i := range l.Jobs {
		s := &l.Jobs[i]
		j := job{Task: "job", State: jobState(s, runEnded), Exit: "–", Y: 3 + i*v.Pitch, Thick: thick}
		if s.Task >= 0 {
			j.Task = strconv.Itoa(s.Task)
		}
		if s.ExitCode != nil {
			j.Exit = strconv.Itoa(*s.ExitCode)
		}
		switch j.State.Class {
		case "good":
			done++
		case "run":
			open++
			running++
		case "wait":
			open++
		default:
			failed++
		}
		j.draw(s, l.At, at, now, &waits, &runs)
		v.Jobs = append(v.Jobs, j)
	}
	v.Waited, v.Ran = waits.String(), runs.String()
	n := len(l.Jobs)
	v.Words = fmt.Sprintf("%d of %d done", done, n)
	if failed > 0 {
		v.Words += fmt.Sprintf(", %d not", failed)
	}
	switch {
	case v.One:
		v.State, v.Words = v.Jobs[0].State, ""
	case running > 0:
		v.State = state{"running", "run", "▶"}
	case open > 0:
		v.State = state{"waiting", "wait", "○"}
	case failed > 0 && done == 0:
		v.State = state{"failed", "bad", "✕"}
	case failed > 0:
		v.State = state{"partly done", "late", "◐"}
	default:
		v.State = state{"done", "good", "✓"}
	}
	return v
}

// draw sets the bars: the wait in the queue, then the run. Of a job that never began,
// or whose directory is gone, all of its time is wait.
func (j *job) draw(s *engine.JobStory, submitted time.Time, at axis, now time.Time, waits, runs *spread) {
	end := s.Ended
	if end.IsZero() {
		end = now
	}
	began := s.Began
	if began.IsZero() || began.After(end) {
		j.Waited = span(end.Sub(submitted))
		j.Wait = at.bar(submitted, end, "queue", fmt.Sprintf("%s: %s, not known to have begun in %s", j.Task, j.State.Word, j.Waited))
		return
	}
	waits.add(began.Sub(submitted))
	runs.add(end.Sub(began))
	j.Waited, j.Ran = span(began.Sub(submitted)), span(end.Sub(began))
	words := fmt.Sprintf("%s: %s, waited %s, ran %s", j.Task, j.State.Word, j.Waited, j.Ran)
	j.Wait = at.bar(submitted, began, "queue", words)
	j.Run = at.bar(began, end, j.State.Class, words)
}

// jobState is how a job stands. That it ran into its walltime is not that it failed.
func jobState(s *engine.JobStory, runEnded bool) state {
	switch {
	case s.ExitCode != nil && *s.ExitCode == 0:
		return state{"done", "good", "✓"}
	case s.State == "TIMEOUT":
		return state{"timed out", "late", "◷"}
	case s.State == "CANCELLED":
		return state{"cancelled", "off", "■"}
	case s.ExitCode != nil || s.State == "FAILED":
		return state{"failed", "bad", "✕"}
	case s.State != "":
		return state{line(s.State, 24), "bad", "✕"}
	case runEnded:
		return state{"unknown", "off", "?"}
	case !s.Began.IsZero():
		return state{"running", "run", "▶"}
	}
	return state{"waiting", "wait", "○"}
}
