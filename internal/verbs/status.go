package verbs

import (
	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Status shows what is staged and what is left of the budgets.
func Status() *Verb {
	v := &Verb{
		name:     "status",
		does:     "shows what is staged, whether a request is committed, and what is left of the budgets",
		synopsis: "[flags]",
		details: `It reads files only and needs no kernel. With --json the keys are "workspace",
"committed", "staged" with what is staged as it will be committed, and "budget",
null where none was set.`,
		examples: [2]string{"", "--json"},
	}
	var asJSON bool
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		committed, err := s.Committed()
		if err != nil {
			return err
		}
		staged, err := s.Staged()
		if err != nil {
			return err
		}
		if asJSON {
			return c.statusJSON(s, staged, committed)
		}
		if committed {
			c.say("A request is committed: end your session now, or take the request back with syscall-cancel.")
		}
		if !committed || !staged.Empty() {
			c.out.Write(render.Staged(staged))
		}
		c.say("%s", budgetLine(s))
		return nil
	})
	return v
}

func (c *call) statusJSON(s *channel.Session, staged channel.Staged, committed bool) error {
	status := struct {
		Workspace string          `json:"workspace"`
		Committed bool            `json:"committed"`
		Staged    channel.Staged  `json:"staged"`
		Budget    *channel.Budget `json:"budget"`
	}{s.Workspace(), committed, staged, nil}
	if status.Staged.Launches == nil {
		status.Staged.Launches = []channel.Launch{}
	}
	if status.Staged.Findings == nil {
		status.Staged.Findings = []channel.Finding{}
	}
	b, ok, err := s.Budget()
	if err != nil {
		return err
	}
	if ok {
		status.Budget = &b
	}
	return c.sayJSON(status)
}
