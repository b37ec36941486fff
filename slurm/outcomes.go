package slurm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// listingReuse is how old a listing may be that answers Outcomes as well. A pass
// over all runs that has just asked for the queue asks squeue no second time.
const listingReuse = time.Second

// Outcomes says how jobs stand. An array as a whole runs while one of its tasks
// does, and ends in the state COMPLETED only if all of them did, else in that of the
// first that did not; it has neither exit code nor run time.
//
// It asks squeue at most once, and sacct at most once for what the controller no
// longer knows. The controller's answer comes first: where ids were restarted, the
// database has older jobs under the same ids. For the same reason the database is
// asked for the newest job of an id only.
//
// A job that neither knows is missing from the answer: it surely neither waits nor
// runs, for the controller knows every job that does. Where there is an accounting
// database that cannot be reached, such a job is [Unknown], and the reason says why.
// Where there is none at all, the controller's word stands: it has forgotten the job,
// minutes after it ended.
func (c *Client) Outcomes(ctx context.Context, ids []string) (map[string]Outcome, error) {
	return c.outcomes(ctx, ids, c.recent(), false)
}

// OutcomesSince is Outcomes for a caller that has called Queue after since, and that
// knew all of the ids before. A job that is missing from that listing was over when it
// was made, for it was in the queue before, so squeue is not asked again, however long
// ago that is by now. Where this client has no listing that new, it makes one.
func (c *Client) OutcomesSince(ctx context.Context, ids []string, since time.Time) (map[string]Outcome, error) {
	l := c.latest()
	return c.outcomes(ctx, ids, l, l != nil && !l.at.Before(since))
}

// outcomes answers from a listing, which may be nil, and says of jobs that they are
// not in the queue only if the listing is whole for these ids.
func (c *Client) outcomes(ctx context.Context, ids []string, l *listing, whole bool) (map[string]Outcome, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !isID(id) })
	if len(ids) == 0 {
		return map[string]Outcome{}, nil
	}
	outcomes, missing := map[string]Outcome{}, ids
	if l != nil {
		outcomes, missing = l.outcomes(ids)
	}
	if len(missing) > 0 && !whole {
		var err error
		if l, err = c.list(ctx); err != nil {
			return nil, fmt.Errorf("ask how %d jobs stand: %w", len(ids), err)
		}
		outcomes, missing = l.outcomes(ids)
	}
	if len(missing) == 0 {
		return outcomes, nil
	}
	older, err := c.account(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("ask how %d jobs stand: %w", len(ids), err)
	}
	maps.Copy(outcomes, older)
	l.addDropped(outcomes, missing)
	return outcomes, nil
}

// addDropped adds the tasks of known arrays that nobody knows. A task that is
// canceled before its array is split up leaves no record, neither with the
// controller nor in the database: it is just not in the list of waiting tasks any
// more. (Where there is no database, it may also be one that ended so much earlier
// than the rest that the controller has forgotten it.)
func (l *listing) addDropped(outcomes map[string]Outcome, missing []string) {
	for _, id := range missing {
		base, _, isTask := strings.Cut(id, "_")
		if _, known := outcomes[id]; !known && isTask && len(l.tasks[base]) > 0 {
			outcomes[id] = Outcome{State: Cancelled}
		}
	}
}

// latest returns the latest listing, nil for none.
func (c *Client) latest() *listing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listing
}

// recent returns the latest listing if it is new enough, else nil.
func (c *Client) recent() *listing {
	l := c.latest()
	if l == nil {
		return nil
	}
	if age := c.opt.Now().Sub(l.at); age < 0 || age > listingReuse {
		return nil
	}
	return l
}

// outcomes looks jobs up and says which of them are not there.
func (l *listing) outcomes(ids []string) (found map[string]Outcome, missing []string) {
	found = make(map[string]Outcome, len(ids))
	for _, id := range ids {
		if o, ok := l.outcome(id); ok {
			found[id] = o
		} else {
			missing = append(missing, id)
		}
	}
	return found, missing
}

func (l *listing) outcome(id string) (Outcome, bool) {
	if i, ok := l.byID[id]; ok {
		return l.jobs[i].outcome(), true
	}
	base, _, isTask := strings.Cut(id, "_")
	if rest, ok := l.rest[base]; ok && isTask {
		return rest.outcome(), true
	}
	tasks := l.tasks[id]
	if len(tasks) == 0 {
		return Outcome{}, false
	}
	parts := make([]Outcome, len(tasks))
	for i, t := range tasks {
		parts[i] = l.jobs[t].outcome()
	}
	o := summary(parts)
	o.Token = parts[0].Token
	return o, true
}

func (j *listed) outcome() Outcome {
	o := Outcome{State: j.State, ExitCode: j.exit, Token: j.Token}
	if !j.State.Terminal() && j.Reason != "None" {
		o.Reason = j.Reason
	}
	if j.State != Pending && j.once {
		o.Elapsed.Duration, o.Elapsed.Known = ParseElapsed(j.Elapsed)
	}
	return o
}

// summary is the outcome of an array as a whole.
func summary(tasks []Outcome) Outcome {
	for _, is := range []func(State) bool{
		func(s State) bool { return s == Running || s == Completing },
		func(s State) bool { return !s.Terminal() },
		func(s State) bool { return s != Completed },
	} {
		if i := slices.IndexFunc(tasks, func(o Outcome) bool { return is(o.State) }); i >= 0 {
			return Outcome{State: tasks[i].State, Reason: tasks[i].Reason}
		}
	}
	return Outcome{State: Completed}
}
