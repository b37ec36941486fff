package verbs

import (
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Sleep commits what is staged.
func Sleep() *Verb {
	v := &Verb{
		name:     "sleep",
		role:     author,
		does:     "commits what is staged, to run once your session has ended",
		synopsis: "[flags]",
		details: `Launches, note and submit become the one request that the kernel reads when your
process is gone, so end your session next. You are woken when the launches are
over, with their results and your note. Until you end, syscall-cancel takes the
request back. A note alone is enough to be woken again.`,
		examples: [2]string{"", "--json"},
	}
	var asJSON bool
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		if err := c.checkSleep(s); err != nil {
			return err
		}
		sleep, err := s.CommitSleep(unending())
		if err != nil {
			return err
		}
		if asJSON {
			raw, err := channel.Request{Sleep: &sleep}.Encode()
			c.out.Write(render.JSON(raw))
			return err
		}
		c.say("Committed %s.", contents(sleep))
		c.say("End your session now: the request is read when your process is gone. Until then syscall-cancel takes it back.")
		return nil
	})
	return v
}

// checkSleep refuses a sleep that would ask for nothing, or for what the budget
// does not hold. Somebody who stages in between is only refused later, by the
// kernel.
func (c *call) checkSleep(s *channel.Session) error {
	if committed, err := s.Committed(); committed || err != nil {
		if err == nil {
			err = channel.ErrCommitted
		}
		return err
	}
	staged, err := s.Staged()
	if err != nil {
		return err
	}
	if len(staged.Launches) == 0 && staged.Note == "" && !staged.Submit {
		return failed("stage something with syscall-launch, syscall-note or syscall-submit first; to end the run, end your session without a request",
			"nothing is staged, so there is nothing to sleep for")
	}
	if b, ok, err := s.Budget(); ok && err == nil && b.Sleeps < 1 {
		return failed("end your session without a sleep; what is in the workspace stays", "the budget has no sleeps left")
	}
	return c.checkBudget(s, staged.Launches)
}

// contents is what a request holds, in words.
func contents(s channel.Sleep) string {
	var parts []string
	if n := len(s.Launches); n > 0 {
		names := make([]string, n)
		for i := range s.Launches {
			names[i] = s.Launches[i].Name
		}
		parts = append(parts, render.Count(n, "launch")+" ("+strings.Join(names, ", ")+")")
	}
	if s.Note != "" {
		parts = append(parts, "a note")
	}
	if s.Submit {
		parts = append(parts, "a submit with its report")
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}
