package verbs

import (
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// History shows the run's launches.
func History() *Verb {
	v := &Verb{
		name:     "history",
		does:     "shows the launches of this run so far and how each of their jobs ended",
		synopsis: "[flags]",
		details: `Launches are listed sleep by sleep, oldest first. A job that the scheduler ended
before its command could return has no exit status, and its state says why, such
as TIMEOUT or OUT_OF_MEMORY.

With --json the answer is printed as the kernel wrote it, with one more key:
"polled" is true where no file event announced it.`,
		examples: [2]string{"", "--wait 5 --json"},
	}
	var q question
	q.addTo(&v.options)

	v.run = withSession(func(c *call, s *channel.Session) error {
		var answer channel.HistoryAnswer
		if _, err := q.ask(c, s, &answer); err != nil {
			return err
		}
		if answer.Error != "" {
			return failed("try again in a minute", "the history is unavailable right now: %s", render.Line(answer.Error, 200))
		}
		if !q.asJSON {
			c.out.Write(render.History(answer, time.Local))
		}
		return nil
	})
	return v
}
