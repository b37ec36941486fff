package verbs

import (
	"errors"
	"strconv"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Status shows what is staged and committed, and what is left of budgets and time.
func Status() *Verb {
	v := &Verb{
		name:     "status",
		does:     "shows all that is staged or committed, and what is left of the budgets and of this leg's time",
		synopsis: "[flags]",
		details: `It reads files only and needs no kernel. With --json the keys are "workspace";
"committed"; "request", with the keys of "staged" and "type", null where none is
committed or it cannot be read; "staged"; "budget", null where none was set; and "leg", with
"number", "ends_at" in Unix seconds and "seconds_left", null where the kernel does
not say when the leg ends.`,
		examples: [2]string{"", "--json"},
	}
	var asJSON bool
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		request, refused := s.Request()
		committed := !errors.Is(refused, channel.ErrNothingCommitted)
		staged, err := s.Staged()
		if err != nil {
			return err
		}
		if asJSON {
			status := status{Workspace: s.Workspace(), Committed: committed, Staged: staged}
			if refused == nil {
				status.Request = &request
			}
			return c.statusJSON(s, status)
		}
		launches := staged.Launches
		switch {
		case !committed:
		case refused != nil:
			c.say("A request is committed that the kernel will refuse, take it back with syscall-cancel: %s.", render.Line(refused.Error(), 200))
		default:
			c.out.Write(render.Committed(request))
			c.say("End your session now, or take the request back with syscall-cancel.")
			launches = request.Launches
		}
		if !committed || !staged.Empty() {
			c.out.Write(render.Staged(staged))
		}
		c.sayLeft(s, launches)
		return nil
	})
	return v
}

// sayLeft says what is left of the budgets, what of that the launches will take, and
// what is left of the leg's time.
func (c *call) sayLeft(s *channel.Session, launches []channel.Launch) {
	if b, ok, err := s.Budget(); ok && err == nil && len(launches) > 0 {
		c.say("Cost: %s.", c.cost(b, launches))
	}
	c.say("%s", budgetLine(s))
	leg, ok := c.leg(time.Now())
	switch {
	case ok && leg.Left > 0:
		c.say("Time: this leg ends in %s; commit before.", render.Span(time.Duration(leg.Left)*time.Second))
	case ok:
		c.say("Time: none is left of this leg; commit now and end your session.")
	}
}

// legTime is how a leg's time stands.
type legTime struct {
	Number *int  `json:"number"`
	EndsAt int64 `json:"ends_at"`      // Unix seconds
	Left   int64 `json:"seconds_left"` // at least 0
}

// leg is the time of the leg that this is, where the kernel says when it ends.
func (c *call) leg(now time.Time) (leg legTime, ok bool) {
	ends, err := strconv.ParseInt(c.getenv("OUTERLOOP_LEG_ENDS"), 10, 64)
	if err != nil || ends < 0 {
		return legTime{}, false
	}
	const longest = 365 * 24 * 3600 // what a time.Duration holds, and more than any leg
	leg = legTime{EndsAt: ends, Left: min(max(ends-now.Unix(), 0), longest)}
	if n, err := strconv.Atoi(c.getenv("OUTERLOOP_LEG")); err == nil {
		leg.Number = &n
	}
	return leg, true
}

// status is what --json prints.
type status struct {
	Workspace string             `json:"workspace"`
	Committed bool               `json:"committed"`
	Request   *channel.Committed `json:"request"`
	Staged    channel.Staged     `json:"staged"`
	Budget    *channel.Budget    `json:"budget"`
	Leg       *legTime           `json:"leg"`
}

func (c *call) statusJSON(s *channel.Session, all status) error {
	b, ok, err := s.Budget()
	if err != nil {
		return err
	}
	if ok {
		all.Budget = &b
	}
	if leg, ok := c.leg(time.Now()); ok {
		all.Leg = &leg
	}
	listed(&all.Staged)
	if all.Request != nil {
		listed(&all.Request.Staged)
	}
	return c.sayJSON(all)
}

// listed makes [] of lists that would be null.
func listed(s *channel.Staged) {
	s.Launches = append([]channel.Launch{}, s.Launches...)
	s.Findings = append([]channel.Finding{}, s.Findings...)
}
