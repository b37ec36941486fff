package verbs

import (
	"fmt"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Submit stages the claim that the workspace is worth merging.
func Submit() *Verb {
	v := &Verb{
		name:     "submit",
		role:     author,
		does:     "stages the claim that the workspace is worth merging, with a report that says why",
		synopsis: "--report FILE [flags]",
		details: fmt.Sprintf(`At syscall-sleep the workspace is sealed as it is then, and the gate measures it
where one is set up; you are woken with the verdict unless that ends the run.

The report is Markdown: what you expected, what you ran and measured, why it
should be merged, and what did not work. It is read now, so that later changes of
the file do not count, and holds at most %d characters. A relative FILE is looked
for below the workspace's root, wherever you stand. A second submit replaces the
first.`, channel.MaxReportChars),
		examples: [2]string{
			"--report report.md",
			"--report docs/attempt.md --minutes 90",
		},
	}
	var path string
	var minutes int
	var asJSON bool
	v.options.text(&path, "report", "FILE", "the report; required")
	declared := v.options.number(&minutes, "minutes", "N",
		fmt.Sprintf("walltime of the gate, 1 to %d (default the gate's own)", channel.MaxEvalMinutes))
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		var asked *int
		if declared.given {
			asked = &minutes
		}
		claim, err := checkClaim(s, path, asked, usageCure(v))
		if err != nil {
			return err
		}
		replaced := false
		err = s.Stage(unending(), func(all *channel.Staged) error {
			replaced = all.Submit
			all.Submit, all.Report, all.EvalMinutes = true, claim.Report, claim.EvalMinutes
			return nil
		})
		if err != nil {
			return err
		}
		if asJSON {
			return c.sayJSON(claim)
		}
		c.sayClaim(claim, asked)
		if replaced {
			c.say("It replaces the submit that was staged before.")
		}
		c.say("Run syscall-sleep and then end your session: the workspace is sealed as it is then.")
		c.say("%s", budgetLine(s))
		return nil
	})
	return v
}

// claim is a submit as it is staged.
type claim struct {
	Submit      bool   `json:"submit"`
	EvalMinutes *int   `json:"eval_minutes"` // null without --minutes
	Report      string `json:"report"`
}

func checkClaim(s *channel.Session, path string, minutes *int, usage string) (claim, error) {
	if path == "" {
		return claim{}, wrongCall(usage, "--report is missing")
	}
	checked := claim{Submit: true}
	if minutes != nil {
		n, err := channel.CheckEvalMinutes(*minutes)
		if err != nil {
			return claim{}, asWrongCall(err)
		}
		checked.EvalMinutes = &n
	}
	report, err := readReport(s, path)
	if err != nil {
		return claim{}, err
	}
	checked.Report, err = channel.CheckReport(report)
	return checked, asWrongCall(err)
}

func (c *call) sayClaim(got claim, asked *int) {
	gate := "the gate's own walltime"
	if got.EvalMinutes != nil {
		gate = render.Count(*got.EvalMinutes, "minute") + " for the gate"
	}
	c.say("Staged a submit with a report of %s and %s.",
		render.Count(utf8.RuneCountInString(got.Report), "character"), gate)
	if asked != nil && *asked != *got.EvalMinutes {
		c.say("Note: --minutes %d became %d, the most there is.", *asked, *got.EvalMinutes)
	}
}
