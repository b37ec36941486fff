package verbs

import (
	"fmt"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Finding stages one remark of a judge.
func Finding() *Verb {
	v := &Verb{
		name:     "finding",
		role:     judge,
		does:     "stages one finding of a judge's verdict",
		synopsis: "--file FILE --kind KIND --confidence LEVEL --summary TEXT [flags]",
		details: fmt.Sprintf(`It is for a session that judges; the kernel refuses a verdict of an author's run.
What is staged becomes the verdict at syscall-conclude. Each text holds at most
%d characters, and a verdict at most %d findings. Only with --blocking does a
finding stand against the work.`,
			channel.MaxFindingChars, channel.MaxFindings),
		examples: [2]string{
			`--file train.py --line 40 --kind change --confidence high --blocking --summary "the test set is trained on"`,
			`--file README.md --kind question --confidence low --summary "which seed is this?" --json`,
		},
	}
	args := &findingArgs{}
	args.addTo(&v.options)
	v.run = withSession(args.stage)
	return v
}

// findingArgs are the flags of a finding.
type findingArgs struct {
	finding  channel.Finding
	line     int
	category string
	lined    *option
	sorted   *option
	asJSON   bool
}

func (a *findingArgs) addTo(o *options) {
	f := &a.finding
	o.text(&f.File, "file", "FILE", "what it is about; required")
	a.lined = o.number(&a.line, "line", "N", "the line, counted from 1 (default none: it is not about one line)")
	o.text(&f.Kind, "kind", "KIND", "change, suggestion, question or note; required")
	o.text(&f.Confidence, "confidence", "LEVEL", "low, medium or high; required")
	o.text(&f.Summary, "summary", "TEXT", "the finding in a sentence; required")
	o.text(&f.Detail, "detail", "TEXT", "what shows it, and what would cure it")
	a.sorted = o.text(&a.category, "category", "TEXT", "a word to sort it by")
	o.add("blocking", "", "the work must not be taken as it is", func(string) error {
		f.Blocking = true
		return nil
	})
	o.json(&a.asJSON)
}

func (a *findingArgs) stage(c *call, s *channel.Session) error {
	f, err := a.checked(usageCure(c.verb))
	if err != nil {
		return err
	}
	count := 0
	err = s.Stage(unending(), func(all *channel.Staged) error {
		if count = len(all.Findings) + 1; count > channel.MaxFindings {
			return failed("conclude with syscall-conclude, and say in its notes what else there is",
				"%d findings are staged already, the most that fit in one verdict", channel.MaxFindings)
		}
		all.Findings = append(all.Findings, f)
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return c.sayJSON(f)
	}
	blocking := ""
	if f.Blocking {
		blocking = "blocking "
	}
	c.say("Staged a %s%s on %s.", blocking, f.Kind, render.Line(f.File, 200))
	c.say("%s staged. Stage more, or run syscall-conclude and then end your session.", render.Count(count, "finding"))
	return nil
}

// checked is the finding that the flags make.
func (a *findingArgs) checked(usage string) (channel.Finding, error) {
	f := a.finding
	for _, text := range []struct {
		flag  string
		value *string
	}{{"file", &f.File}, {"kind", &f.Kind}, {"confidence", &f.Confidence}, {"summary", &f.Summary}} {
		*text.value = strings.TrimSpace(validUTF8(*text.value))
		if *text.value == "" {
			return f, wrongCall(usage, "--%s is missing", text.flag)
		}
	}
	f.Detail = strings.TrimSpace(validUTF8(f.Detail))
	if a.lined.given {
		if a.line < 1 {
			return f, wrongCall("give 1 or more, or leave it out", "--line %d is below 1", a.line)
		}
		f.Line = &a.line
	}
	if a.sorted.given {
		category := validUTF8(a.category)
		f.Category = &category
	}
	return f, asWrongCall(channel.CheckFinding(f))
}
