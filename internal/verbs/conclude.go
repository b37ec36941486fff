package verbs

import (
	"fmt"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Conclude commits a judge's verdict.
func Conclude() *Verb {
	v := &Verb{
		name:     "conclude",
		role:     judge,
		does:     "commits the findings that are staged as a judge's verdict",
		synopsis: "[flags]",
		details: fmt.Sprintf(`It is for a session that judges; the kernel refuses a verdict of an author's run.
The verdict is read when your process is gone, so end your session next; until
then syscall-cancel takes it back. A verdict without findings says that nothing
was found. Notes hold at most %d characters; those that are staged already count
where --notes is not given.`, channel.MaxFindingChars),
		examples: [2]string{"", `--notes "read all of it; the figures agree with the logs" --json`},
	}
	var notes string
	var asJSON bool
	v.options.text(&notes, "notes", "TEXT", "what else there is to say")
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		notes = strings.TrimSpace(validUTF8(notes))
		if err := channel.CheckVerdict(channel.Verdict{Notes: notes}); err != nil {
			return asWrongCall(err)
		}
		if err := checkConclude(s); err != nil {
			return err
		}
		verdict, err := s.CommitVerdict(unending(), notes)
		if err != nil {
			return err
		}
		if asJSON {
			raw, err := channel.Request{Verdict: &verdict}.Encode()
			c.out.Write(render.JSON(raw))
			return err
		}
		blocking := 0
		for i := range verdict.Findings {
			if verdict.Findings[i].Blocking {
				blocking++
			}
		}
		c.say("Committed a verdict with %s, %d blocking.", render.Count(len(verdict.Findings), "finding"), blocking)
		c.say("End your session now: the verdict is read when your process is gone. Until then syscall-cancel takes it back.")
		return nil
	})
	return v
}

// checkConclude refuses a verdict that would discard what an author has staged:
// a verdict carries no launches, and committing drops what is staged.
func checkConclude(s *channel.Session) error {
	staged, err := s.Staged()
	if err != nil {
		return err
	}
	if len(staged.Launches) > 0 || staged.Note != "" || staged.Submit {
		return failed("commit it with syscall-sleep, or discard everything with syscall-cancel",
			"launches, a note or a submit are staged, which a verdict cannot hold")
	}
	return nil
}
