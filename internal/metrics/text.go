package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// states are all that a run can be in, so that one that nobody is in shows as 0.
func states() []string {
	return []string{
		string(engine.Ready), string(engine.Running), string(engine.Parking), string(engine.Parked),
		string(engine.Submitted), string(engine.Accepted), string(engine.Concluded), string(engine.Finished), string(engine.Failed),
		string(engine.Stuck), string(engine.Canceled), "broken",
	}
}

// writer writes the text format, version 0.0.4.
type writer struct{ bytes.Buffer }

func (w *writer) head(name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// one writes a sample. The label's value is one of this package's or of the protocol's
// words, and needs no escaping.
func (w *writer) one(name, label, value string, v float64) {
	if label != "" {
		name += fmt.Sprintf("{%s=%q}", label, value)
	}
	w.WriteString(name + " " + number(v) + "\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (w *writer) histogram(name, help string, h histogram) {
	w.head(name, "histogram", help)
	h.sum(histogram{})
	for i, bound := range bounds() {
		w.one(name+"_bucket", "le", number(bound), float64(h.Buckets[i]))
	}
	w.one(name+"_bucket", "le", "+Inf", float64(h.Count))
	w.one(name+"_sum", "", "", h.Seconds)
	w.one(name+"_count", "", "", float64(h.Count))
}

// text is the file.
func (k *kept) text(byState map[string]int, now time.Time) []byte {
	var w writer
	total := contribution{Launches: map[string]int{}, Jobs: map[string]int{}, Answers: map[string]engine.Answers{}}
	for _, c := range k.Runs {
		total.sum(c)
	}
	w.head("outerloop_pass_timestamp_seconds", "gauge", "When the runs were looked at last.")
	w.one("outerloop_pass_timestamp_seconds", "", "", float64(now.Unix()))
	w.head("outerloop_runs", "gauge", "Runs by their state, or by their outcome once they have ended.")
	for _, state := range states() {
		w.one("outerloop_runs", "state", state, float64(byState[state]))
	}
	w.head("outerloop_legs_total", "counter", "Legs that have begun.")
	w.one("outerloop_legs_total", "", "", float64(total.Legs))
	w.head("outerloop_launches_submitted_total", "counter", "Launches that went to the scheduler.")
	w.one("outerloop_launches_submitted_total", "", "", float64(total.Submitted))
	w.head("outerloop_launches_total", "counter", "Launches that are over: done, or failed where a job of theirs is not done.")
	for _, outcome := range []string{"done", "failed"} {
		w.one("outerloop_launches_total", "outcome", outcome, float64(total.Launches[outcome]))
	}
	w.head("outerloop_jobs_total", "counter", "Jobs of launches that are over, tasks of sweeps each for itself.")
	for _, outcome := range jobOutcomes() {
		w.one("outerloop_jobs_total", "outcome", outcome, float64(total.Jobs[outcome]))
	}
	w.histogram("outerloop_job_queue_wait_seconds", "From a launch's submission until a job of its began.", total.Wait)
	w.histogram("outerloop_job_run_seconds", "How long jobs of launches ran.", total.Run)
	w.answers(total.Answers)
	w.queries(k.Scheduler)
	return w.Bytes()
}

func (w *writer) answers(by map[string]engine.Answers) {
	counter(w, "outerloop_answers_total", "Questions of authors that were answered, of legs that are over.", "verb", by,
		func(a engine.Answers) float64 { return float64(a.Count) })
	counter(w, "outerloop_answers_failed_total", "Of these, whose answer was an error.", "verb", by,
		func(a engine.Answers) float64 { return float64(a.Failed) })
	counter(w, "outerloop_answer_seconds_total", "How long these answers took to be known.", "verb", by,
		func(a engine.Answers) float64 { return a.Seconds })
}

func (w *writer) queries(by map[string]Queries) {
	counter(w, "outerloop_scheduler_queries_total", "What ticks with --metrics have asked the scheduler.", "query", by,
		func(q Queries) float64 { return float64(q.Asked) })
	counter(w, "outerloop_scheduler_queries_failed_total", "Of these, without an answer.", "query", by,
		func(q Queries) float64 { return float64(q.Failed) })
	counter(w, "outerloop_scheduler_query_seconds_total", "How long these took.", "query", by,
		func(q Queries) float64 { return q.Seconds })
}

// counter writes one counter with a label, in the order of the label's values.
func counter[V any](w *writer, name, help, label string, by map[string]V, value func(V) float64) {
	w.head(name, "counter", help)
	for _, key := range slices.Sorted(maps.Keys(by)) {
		w.one(name, label, key, value(by[key]))
	}
}

// sum adds another run's.
func (c *contribution) sum(o *contribution) {
	c.Submitted += o.Submitted
	c.Legs += o.Legs
	for name, n := range o.Launches {
		c.Launches[name] += n
	}
	for name, n := range o.Jobs {
		c.Jobs[name] += n
	}
	c.Wait.sum(o.Wait)
	c.Run.sum(o.Run)
	for verb, a := range o.Answers {
		was := c.Answers[verb]
		c.Answers[verb] = engine.Answers{Count: was.Count + a.Count, Failed: was.Failed + a.Failed, Seconds: was.Seconds + a.Seconds}
	}
}
