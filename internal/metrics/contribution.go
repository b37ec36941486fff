package metrics

import (
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// contribution is what one run adds to the counters.
type contribution struct {
	Ended     string                    `json:"ended,omitempty"` // the run's outcome
	Submitted int                       `json:"submitted"`       // launches
	Launches  map[string]int            `json:"launches,omitempty"`
	Jobs      map[string]int            `json:"jobs,omitempty"`
	Wait      histogram                 `json:"wait"`
	Run       histogram                 `json:"run"`
	Legs      int                       `json:"legs"`
	Answers   map[string]engine.Answers `json:"answers,omitempty"`
}

// histogram counts spans by the bounds of its buckets, cumulatively as Prometheus does.
type histogram struct {
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	Buckets []int   `json:"buckets,omitempty"`
}

// bounds are those of the buckets, in seconds: queues are waited in for hours.
func bounds() []float64 {
	return []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600}
}

func (h *histogram) observe(d time.Duration) {
	if h.Buckets == nil {
		h.Buckets = make([]int, len(bounds()))
	}
	s := max(d, 0).Seconds()
	h.Count++
	h.Seconds += s
	for i, bound := range bounds() {
		if s <= bound {
			h.Buckets[i]++
		}
	}
}

func (h *histogram) sum(other histogram) {
	h.Count += other.Count
	h.Seconds += other.Seconds
	if h.Buckets == nil {
		h.Buckets = make([]int, len(bounds()))
	}
	for i := range other.Buckets {
		if i < len(h.Buckets) {
			h.Buckets[i] += other.Buckets[i]
		}
	}
}

// add takes in what a run has come to, and returns its state or, where it has ended,
// its outcome. What was counted before and is not to be seen any more stays counted.
func (c *contribution) add(s *engine.Story) (state string) {
	now := contribution{Launches: map[string]int{}, Jobs: map[string]int{}, Answers: map[string]engine.Answers{}}
	for i := range s.Launches {
		now.launch(&s.Launches[i])
	}
	for _, leg := range s.Legs {
		for verb, a := range leg.Answers {
			was := now.Answers[verb]
			now.Answers[verb] = engine.Answers{Count: was.Count + a.Count, Failed: was.Failed + a.Failed, Seconds: was.Seconds + a.Seconds}
		}
	}
	c.Submitted = max(c.Submitted, len(s.Launches))
	c.Legs = max(c.Legs, len(s.Legs))
	c.Launches = most(c.Launches, now.Launches)
	c.Jobs = most(c.Jobs, now.Jobs)
	if now.Wait.Count >= c.Wait.Count {
		c.Wait, c.Run = now.Wait, now.Run
	}
	for verb, a := range now.Answers {
		if c.Answers == nil {
			c.Answers = make(map[string]engine.Answers)
		}
		if a.Count >= c.Answers[verb].Count {
			c.Answers[verb] = a
		}
	}
	if s.State == engine.Ended {
		c.Ended = string(s.Outcome)
		return c.Ended
	}
	return string(s.State)
}

func (c *contribution) launch(l *engine.LaunchStory) {
	outcome := "done"
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if j.State == "" {
			return // not in the ledger yet, where nothing changes any more
		}
		o := jobOutcome(j)
		if o != "done" {
			outcome = "failed"
		}
		c.Jobs[o]++
		if !j.Began.IsZero() && !j.Ended.Before(j.Began) {
			c.Wait.observe(j.Began.Sub(l.At))
			c.Run.observe(j.Ended.Sub(j.Began))
		}
	}
	c.Launches[outcome]++
}

// jobOutcomes are the values of a label, which are few and always the same.
func jobOutcomes() []string { return []string{"done", "failed", "timeout", "cancelled", "other"} }

func jobOutcome(j *engine.JobStory) string {
	switch {
	case j.ExitCode != nil && *j.ExitCode == 0:
		return "done"
	case j.State == "TIMEOUT":
		return "timeout"
	case j.State == "CANCELLED":
		return "cancelled"
	case j.ExitCode != nil || j.State == "FAILED":
		return "failed"
	}
	return "other"
}

// most keeps of each count the greater.
func most(was, now map[string]int) map[string]int {
	for name, n := range was {
		now[name] = max(now[name], n)
	}
	return now
}
