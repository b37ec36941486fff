package verbs

import (
	"github.com/outerloop-go/outerloop/channel"
)

// Cancel discards what is staged and takes a committed request back.
func Cancel() *Verb {
	v := &Verb{
		name:     "cancel",
		does:     "discards what is staged and takes a committed request back",
		synopsis: "[flags]",
		details: `A request can be taken back as long as your session has not ended. Jobs that
already run are not touched. Nothing to cancel is no error.`,
		examples: [2]string{"", "--json"},
	}
	var asJSON bool
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		staged, committed, err := s.Cancel(unending())
		if err != nil {
			return err
		}
		if asJSON {
			return c.sayJSON(struct {
				Staged    bool `json:"staged"`
				Committed bool `json:"committed"`
			}{staged, committed})
		}
		if staged {
			c.say("Discarded what was staged.")
		}
		if committed {
			c.say("Took the committed request back; its launches have to be staged anew.")
		}
		if !staged && !committed {
			c.say("Nothing was staged or committed.")
		}
		return nil
	})
	return v
}
