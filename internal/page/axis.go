package page

import (
	"fmt"
	"math"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// axis is the stretch of time that a run's drawing shows.
type axis struct{ from, to time.Time }

// bar is a stretch of it, in hundredths of the drawing's width.
type bar struct {
	X, Width string
	Class    string
	Words    string // for who points at it, or hears it
}

type tick struct {
	X, Label string
	Anchor   string
}

func newAxis(s engine.Story, end time.Time) axis {
	a := axis{s.Created, end}
	if len(s.Legs) > 0 && !s.Legs[0].Began.IsZero() {
		a.from = s.Legs[0].Began // a run may have waited for days before anything happened
	}
	if a.to.Sub(a.from) < time.Second {
		a.to = a.from.Add(time.Second)
	}
	return a
}

// percent is where a time lies, at most at the drawing's edges: clocks of nodes differ.
func (a axis) percent(t time.Time) float64 {
	p := 100 * float64(t.Sub(a.from)) / float64(a.to.Sub(a.from))
	return min(max(p, 0), 100)
}

func (a axis) bar(from, to time.Time, class, words string) bar {
	x, end := a.percent(from), a.percent(to)
	// What took no time is still to be seen.
	width := max(end-x, 0.3)
	x = min(x, 100-width)
	return bar{percent(x), percent(width), class, words}
}

func percent(p float64) string { return fmt.Sprintf("%.3f%%", p) }

// ticks are four or so round spans after the beginning.
func (a axis) ticks() (all []tick) {
	length := a.to.Sub(a.from)
	step := roundUp(length / 4)
	for at := time.Duration(0); at <= length; at += step {
		p := 100 * float64(at) / float64(length)
		t := tick{percent(p), "+" + span(at), "middle"}
		switch {
		case at == 0:
			t.Label, t.Anchor = a.from.UTC().Format("Jan 2, 15:04"), "start"
		case p > 92:
			t.Anchor = "end"
		}
		if p > 0 && p < 30 {
			continue // it would run into the date on a phone
		}
		all = append(all, t)
	}
	return all
}

// roundUp is the next span that people count in.
func roundUp(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if d <= unit {
			return unit
		}
	}
	day := 24 * time.Hour
	return day * time.Duration(math.Ceil(float64(d)/float64(day)))
}

// span is a length of time in two units at most.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d == 0:
		return "0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < 48*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d, 24*time.Hour, "d", time.Hour, "h")
}

func two(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	if n := d % big / small; n > 0 {
		return fmt.Sprintf("%d %s %d %s", d/big, bigName, n, smallName)
	}
	return fmt.Sprintf("%d %s", d/big, bigName)
}

// spread is the shortest and longest of some spans.
type spread struct {
	n        int
	min, max time.Duration
}

func (s *spread) add(d time.Duration) {
	d = max(d, 0)
	if s.n == 0 || d < s.min {
		s.min = d
	}
	s.n, s.max = s.n+1, max(s.max, d)
}

func (s *spread) String() string {
	switch a, b := span(s.min), span(s.max); {
	case s.n == 0:
		return ""
	case a == b:
		return a
	default:
		return a + " to " + b
	}
}
