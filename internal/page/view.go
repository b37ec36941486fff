package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

// openRuns is how many of the latest runs are unfolded as the page opens.
const openRuns = 3

// view is what the template has.
type view struct {
	Title, Policy string
	Style         template.CSS
	At            time.Time
	Paused        bool
	Counts        []tally
	Runs          []template.HTML
	Older         []run
	Broken        []brokenView
	size          int // of Runs, in bytes
}

type tally struct {
	state
	N int
}

type brokenView struct{ Name, Why string }

// state is a word with a color and a mark, since a color alone is not for everybody.
type state struct{ Word, Class, Mark string }

type run struct {
	Name, Agent  string
	State        state
	Open         bool
	Reason       string
	Trouble      string
	Leg          string
	Created      time.Time
	Took         string
	Budget       []fact
	Axis         []tick
	Legs         []bar
	LegWords     string
	Launches     []launch
	LeftOut      int // launches that are not drawn
	Report       string
	ReportIsHead bool
	Judges       string   // of a judge's run, what it judges
	JudgedBy     []string // by which runs, and how these stand
	Verdict      *verdict
}

type fact struct{ Value, Name string }

func (v *view) count(s state) {
	i := slices.IndexFunc(v.Counts, func(t tally) bool { return t.Word == s.Word })
	if i < 0 {
		i = len(v.Counts)
		v.Counts = append(v.Counts, tally{state: s})
	}
	v.Counts[i].N++
}

func latestFirst(stories []engine.Story) []engine.Story {
	sorted := slices.Clone(stories)
	slices.SortStableFunc(sorted, func(a, b engine.Story) int {
		if a, b := a.State == engine.Ended, b.State == engine.Ended; a != b {
			if b {
				return -1
			}
			return 1
		}
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Run, b.Run))
	})
	return sorted
}

func runView(s engine.Story, now time.Time) run {
	end := now
	if s.State == engine.Ended {
		end = s.Ended
	}
	r := run{
		Name: s.Run, Agent: line(s.Agent, 64), State: stateOf(s.Status), Reason: line(s.Reason, maxReason),
		Created: s.Created.UTC(), Took: span(end.Sub(s.Created)), Leg: "none yet",
		Report: render.Text(s.Report, engine.MaxStoryReport), ReportIsHead: len(s.Report) == engine.MaxStoryReport,
		Budget: []fact{{strconv.Itoa(s.Budget.Launches), "launches"}, {strconv.Itoa(s.Budget.Sleeps), "sleeps"}},
	}
	if s.Role == engine.Judge {
		r.Judges, r.Budget = line(engine.Subjects(s.Judges), maxReason), nil
		r.Verdict = verdictView(&s)
	}
	if s.State != engine.Ended {
		r.Trouble = line(s.Trouble, maxReason)
	}
	if h := s.Budget.GPUHours; h != nil {
		r.Budget = append(r.Budget, fact{strconv.FormatFloat(*h, 'f', 1, 64), "GPU hours"})
	}
	if n := len(s.Legs); n > 0 {
		r.Leg = strconv.Itoa(s.Legs[n-1].Number)
	}
	at := newAxis(s, end)
	r.Axis = at.ticks()
	r.Legs, r.LegWords = legBars(s, at, now)
	shown := s.Launches
	if len(shown) > maxLaunches {
		r.LeftOut = len(shown) - maxLaunches
		shown = shown[r.LeftOut:]
	}
	for i := range shown {
		r.Launches = append(r.Launches, launchView(&shown[i], at, end, s.State == engine.Ended))
	}
	return r
}

func stateOf(s engine.Status) state {
	word := string(s.State)
	if s.State == engine.Ended {
		word = string(s.Outcome)
	}
	switch s.State {
	case engine.Running:
		return state{word, "run", "▶"}
	case engine.Parked:
		return state{word, "wait", "○"}
	case engine.Ready, engine.Parking:
		return state{word, "wait", "…"}
	}
	switch s.Outcome {
	case engine.Submitted, engine.Accepted, engine.Concluded:
		return state{word, "good", "✓"}
	case engine.Failed, engine.Stuck:
		return state{word, "bad", "✕"}
	}
	return state{word, "off", "■"}
}

func legBars(s engine.Story, at axis, now time.Time) (bars []bar, words string) {
	legs := s.Legs[max(0, len(s.Legs)-maxLegs):]
	var total time.Duration
	for _, leg := range legs {
		end, how := leg.Ended, fmt.Sprintf("ended with status %d", leg.Status)
		class := "good"
		switch {
		case end.IsZero() && s.State != engine.Ended:
			end, how, class = now, "is under way", "run"
		case end.IsZero():
			end, how, class = at.to, "did not end by itself", "off"
		case leg.Status != 0:
			class = "bad"
		}
		if leg.Cause != "" && leg.Cause != "itself" {
			how += ", ended by " + leg.Cause
		}
		total += end.Sub(leg.Began)
		bars = append(bars, at.bar(leg.Began, end, class, fmt.Sprintf("leg %d: %s after %s", leg.Number, how, span(end.Sub(leg.Began)))))
	}
	return bars, fmt.Sprintf("%s, %s at work", render.Count(len(s.Legs), "leg"), span(total))
}

// line is one line that an author wrote. What is far beyond the bound is not even
// looked at: it may be megabytes.
func line(untrusted string, most int) string {
	return render.Line(untrusted[:min(len(untrusted), 8*most)], most)
}
