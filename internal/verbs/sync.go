package verbs

import (
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Sync has the kernel bring fresh origin/* references.
func Sync() *Verb {
	v := &Verb{
		name:     channel.SyncVerb,
		does:     "brings the origin/* branches up to date, from the repository that the operator named",
		synopsis: "[flags]",
		details: `The kernel fetches, for a session has no network, and puts the branches into the
workspace's git repository. Nothing else in there changes: merge or rebase as you
would after git fetch. It is done when the program ends, and the branches that have
moved are printed. What git says of the origin in the workspace plays no part.

With --minutes 0 the program asks, looks once and returns; ask again later.`,
		examples: [2]string{"", "--minutes 2 --json"},
	}
	q := question{unit: time.Minute, wait: 35}
	v.options.number(&q.wait, "minutes", "N", "wait N minutes for the answer; 0 asks and looks once (default 35)")
	v.options.json(&q.asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		var answer channel.SyncAnswer
		alone, err := q.ask(c, s, &answer)
		switch {
		case err != nil:
			return err
		case answer.Error != "":
			return failed("go on with the origin/* that is there, and try again later",
				"origin/* is as it was: %s", render.Line(answer.Error, 300))
		case q.asJSON:
		case alone:
			c.out.WriteString("origin/* is fresh.\n")
		default:
			c.out.Write(synced(answer))
		}
		return nil
	})
	return v
}

func synced(a channel.SyncAnswer) []byte {
	out := fmt.Appendf(nil, "origin/* is fresh: %d branches, %d of them moved.\n", a.Branches, len(a.Moved))
	for _, m := range a.Moved {
		name := "origin/" + render.Line(m.Branch, 250)
		switch {
		case m.Commit == "":
			out = fmt.Appendf(out, "  %s is gone\n", name)
		case m.Was == "":
			out = fmt.Appendf(out, "  %s is new, at %s\n", name, short(m.Commit))
		default:
			out = fmt.Appendf(out, "  %s: %s to %s\n", name, short(m.Was), short(m.Commit))
		}
	}
	return out
}

// short is a commit as people write it.
func short(commit string) string { return render.Line(commit[:min(len(commit), 12)], 12) }
