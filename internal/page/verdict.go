package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Bounds of a verdict on the page; the run's directory has it whole.
const (
	maxFindings = 50   // those that block before others
	maxDetail   = 2000 // characters of each text
)

// verdict is what a judge's run came to.
type verdict struct {
	Words    string // how many findings, how many blocking
	Findings []finding
	LeftOut  int
	Notes    string
}

type finding struct {
	State           state
	Where           string
	Words           string // confidence and category
	Summary, Detail string
}

func verdictView(s *engine.Story) *verdict {
	v := s.FullVerdict
	if v == nil || s.Verdict == nil {
		return nil
	}
	view := &verdict{Words: s.Verdict.String(), Notes: render.Text(v.Notes, maxDetail)}
	sorted := slices.Clone(v.Findings)
	slices.SortStableFunc(sorted, func(a, b channel.Finding) int {
		switch {
		case a.Blocking == b.Blocking:
			return 0
		case a.Blocking:
			return -1
		}
		return 1
	})
	if len(sorted) > maxFindings {
		view.LeftOut = len(sorted) - maxFindings
		sorted = sorted[:maxFindings]
	}
	for i := range sorted {
		view.Findings = append(view.Findings, findingView(&sorted[i]))
	}
	return view
}

func findingView(f *channel.Finding) finding {
	view := finding{
		State: state{line(f.Kind, 24), "off", "•"}, Where: line(f.File, maxWhy), Words: line(f.Confidence, 24) + " confidence",
		Summary: render.Text(f.Summary, maxDetail), Detail: render.Text(f.Detail, maxDetail),
	}
	if f.Blocking {
		view.State = state{"blocking " + view.State.Word, "bad", "✕"}
	}
	if f.Line != nil {
		view.Where += ":" + strconv.Itoa(*f.Line)
	}
	if f.Category != nil {
		view.Words += ", " + line(*f.Category, 64)
	}
	return view
}

// judgments says of each run what judges' runs there are on it, and how they stand.
func judgments(stories []engine.Story) map[string][]string {
	of := make(map[string][]string)
	for i := range stories {
		s := &stories[i]
		words := []string{s.Run, stateOf(s.Status).Word}
		if s.Verdict != nil {
			words = append(words, s.Verdict.String())
		}
		for _, j := range s.Judges {
			of[j.Run] = append(of[j.Run], strings.Join(words, ", "))
		}
	}
	return of
}
