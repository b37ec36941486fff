package channel

import "encoding/json"

// Request is a committed request: exactly one of its fields is set.
type Request struct {
	Sleep   *Sleep
	Verdict *Verdict
}

// ParseRequest reads a committed request as hostile input. Unknown and repeated
// keys, wrong types (a boolean is no number, null is no string) and everything
// beyond a bound is a *[RefusedError]. Whoever read the file has bounded its
// size; a sleep above [MaxSleepBytes] or a verdict above [MaxVerdictBytes] is
// refused here too.
func ParseRequest(untrusted []byte) (Request, error) {
	if len(untrusted) > MaxVerdictBytes {
		return Request{}, refuseSize(MaxVerdictBytes)
	}
	o := parseObject(untrusted)
	switch kind := o.str("type", o.require("type")); {
	case o.err != nil:
		return Request{}, o.err
	case kind == "sleep":
		if len(untrusted) > MaxSleepBytes {
			return Request{}, refuseSize(MaxSleepBytes)
		}
		s, err := parseSleep(o)
		if err != nil {
			return Request{}, err
		}
		return Request{Sleep: &s}, nil
	case kind == "verdict":
		v, err := parseVerdict(o)
		if err != nil {
			return Request{}, err
		}
		return Request{Verdict: &v}, nil
	default:
		return Request{}, refuse("type", rewriteCure, `%s is neither "sleep" nor "verdict"`, quoteShort(kind))
	}
}

func refuseSize(most int64) error {
	cure := "shorten the commands, the note or the report, or sleep with fewer launches"
	if most > MaxSleepBytes {
		cure = "keep the weightiest findings and shorten their texts"
	}
	return refuse("", cure, "the request is larger than %d bytes", most)
}

func parseSleep(o *object) (Sleep, error) {
	var s Sleep
	launches, _ := o.take("launches")
	for i, raw := range o.list("launches", launches) {
		if i == MaxLaunches {
			// CheckSleep says how many there are; no need to parse them all.
			s.Launches = append(s.Launches, make([]Launch, len(o.list("launches", launches))-i)...)
			break
		}
		l, err := parseLaunch(raw)
		if err != nil {
			return Sleep{}, within(index("launches", i), err)
		}
		s.Launches = append(s.Launches, l)
	}
	note, _ := o.take("note")
	s.Note = o.str("note", note)
	submit, _ := o.take("submit")
	s.Submit = o.flag("submit", submit)
	report, hasReport := o.take("report")
	s.Report = o.str("report", report)
	minutes, declared := o.take("eval_minutes")
	s.EvalMinutes = o.number("eval_minutes", minutes, 0)
	if declared && s.EvalMinutes < 1 && o.err == nil {
		return Sleep{}, evalMinutesBelow(s.EvalMinutes)
	}
	if hasReport && !s.Submit {
		o.fail("report", "a report goes with a submit only")
	}
	if err := o.end(); err != nil {
		return Sleep{}, err
	}
	return CheckSleep(s)
}

func parseLaunch(raw json.RawMessage) (Launch, error) {
	o := parseObject(raw)
	l := Launch{
		Name:    o.str("name", o.require("name")),
		Command: o.str("command", o.require("command")),
	}
	minutes, _ := o.take("minutes")
	l.Minutes = o.number("minutes", minutes, DefaultMinutes)
	array, _ := o.take("array")
	l.Array = o.number("array", array, 1)
	concurrency, _ := o.take("concurrency")
	l.Concurrency = o.number("concurrency", concurrency, 0)
	why, _ := o.take("why")
	l.Why = o.str("why", why)
	artifacts, _ := o.take("artifacts")
	for _, raw := range o.list("artifacts", artifacts) {
		l.Artifacts = append(l.Artifacts, o.str("artifacts", raw))
	}
	return l, o.end()
}

func parseVerdict(o *object) (Verdict, error) {
	var v Verdict
	for i, raw := range o.list("findings", o.require("findings")) {
		if i == MaxFindings {
			return Verdict{}, refuse("findings", "keep the weightiest", "more than %d findings", MaxFindings)
		}
		f, err := parseFinding(raw)
		if err != nil {
			return Verdict{}, within(index("findings", i), err)
		}
		v.Findings = append(v.Findings, f)
	}
	v.Notes = o.str("notes", o.require("notes"))
	if err := o.end(); err != nil {
		return Verdict{}, err
	}
	return v, CheckVerdict(v)
}

// parseFinding requires every key but category: a missing "blocking" is an
// error and never false, or a judge's slip would let a submit through.
func parseFinding(raw json.RawMessage) (Finding, error) {
	o := parseObject(raw)
	f := Finding{
		File:       o.str("file", o.require("file")),
		Confidence: o.str("confidence", o.require("confidence")),
		Summary:    o.str("summary", o.require("summary")),
		Detail:     o.str("detail", o.require("detail")),
		Blocking:   o.flag("blocking", o.require("blocking")),
		Kind:       o.str("kind", o.require("kind")),
	}
	if line := o.require("line"); string(line) != "null" {
		n := o.number("line", line, 0)
		f.Line = &n
	}
	if category, ok := o.take("category"); ok {
		s := o.str("category", category)
		f.Category = &s
	}
	return f, o.end()
}
