package watcher

import (
	"strings"
	"unicode"

	"github.com/outerloop-go/outerloop/channel"
)

// Characters of one string in an answer. A scheduler's strings are shorter, but
// a job's name and comment are anybody's to choose.
const (
	maxFieldChars = 200
	maxErrorChars = 500
)

// answer is the queue as one run sees it.
func (v view) answer(runID, agent string, cached bool) channel.QueueAnswer {
	a := channel.QueueAnswer{
		At:     channel.Seconds(v.at),
		RunID:  runID,
		Agent:  agent,
		Jobs:   []channel.QueueJob{},
		Lane:   v.lane,
		Cached: cached,
	}
	if v.err != nil {
		a.Error = clean(v.err.Error(), maxErrorChars)
		return a
	}
	// The run's own jobs are what it asks for. They are never the ones to be
	// left out of a long queue.
	others := channel.MaxQueueJobs
	for i := range v.jobs {
		if v.jobs[i].RunID == runID {
			others--
		}
	}
	for i := range v.jobs {
		mine := v.jobs[i].RunID == runID
		if !mine {
			if others <= 0 {
				continue
			}
			others--
		}
		if len(a.Jobs) == channel.MaxQueueJobs {
			break
		}
		a.Jobs = append(a.Jobs, v.jobs[i].entry(mine))
	}
	return a
}

// entry is the job as the answer holds it.
func (j *Job) entry(mine bool) channel.QueueJob {
	field := func(s string) string { return clean(s, maxFieldChars) }
	kind := j.Kind
	if kind == "" {
		kind = j.Name
	}
	return channel.QueueJob{
		ID: field(j.ID), Name: field(j.Name), State: field(string(j.State)), Elapsed: field(j.Elapsed),
		Partition: field(j.Partition), Submitted: field(j.Submitted), Reason: field(j.Reason),
		GRES: field(j.GRES), Limit: field(j.Limit),
		Agent: field(j.Agent), RunID: field(j.RunID), Mine: mine,
		Experiment: field(j.Experiment), Why: field(j.Why), Kind: field(kind),
		Concurrency: j.Throttle,
	}
}

// clean makes one line of a text that somebody else chose, without control
// characters and of at most so many characters.
func clean(s string, most int) string {
	plain := len(s) <= most
	for i := 0; plain && i < len(s); i++ {
		plain = ' ' <= s[i] && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			break
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
