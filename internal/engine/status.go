package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Status is how one run stands, for an operator to look at.
type Status struct {
	Run     string        `json:"run"`
	Agent   string        `json:"agent,omitempty"`
	Role    string        `json:"role,omitempty"`   // Author or Judge
	Judges  []Judged      `json:"judges,omitempty"` // what a judge judges
	State   State         `json:"state,omitempty"`
	Leg     int           `json:"leg"`
	Sleeps  int           `json:"sleeps"`
	Jobs    int           `json:"jobs"`    // of the sleep that is out
	Over    int           `json:"over"`    // of these
	Running int           `json:"running"` // likewise
	Budget  Budget        `json:"budget"`  // what is left
	Outcome Outcome       `json:"outcome,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Verdict *VerdictCount `json:"verdict,omitempty"` // of a judge that has concluded
	Created time.Time     `json:"created,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	Trouble string        `json:"trouble,omitempty"` // why the present step is to be taken again
	Broken  string        `json:"broken,omitempty"`  // why the record cannot be read
}

// Status looks at all runs and changes nothing. It takes no lock, so it shows a
// run also while a process has it.
func (e *Engine) Status(ctx context.Context) ([]Status, error) {
	ids, err := e.Root.Runs()
	if err != nil {
		return nil, err
	}
	rows, err := e.queue(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the queue: %w", err)
	}
	live := make(map[string]slurm.State, len(rows))
	for _, row := range rows {
		live[row.ID] = row.State
	}
	all := make([]Status, 0, len(ids))
	for _, id := range ids {
		rec, err := loadRecord(e.Root.RunDir(id), id)
		if err != nil {
			all = append(all, Status{Run: id, Broken: err.Error()})
			continue
		}
		s := statusOf(&rec, live)
		if rec.State != Ended && (rec.Attempts > 0 || e.Now().Before(rec.NotBefore)) {
			s.Trouble = rec.LastError
		}
		all = append(all, s)
	}
	return all, nil
}

func statusOf(rec *Record, live map[string]slurm.State) Status {
	s := Status{
		Run: rec.ID, Agent: rec.Agent, Role: rec.Role(), Judges: rec.Judges, Verdict: rec.Verdict, State: rec.State, Leg: rec.Leg, Sleeps: rec.Sleeps, Budget: rec.Budget,
		Outcome: rec.Outcome, Reason: rec.Reason, Created: rec.Created,
	}
	if rec.EndedAt != nil {
		s.Ended = *rec.EndedAt
	}
	if rec.Sleep == nil || rec.State == Ended {
		return s
	}
	count := func(id string) {
		s.Jobs++
		switch state, there := live[id]; {
		case !there && rec.State == Parked:
			s.Over++
		case state != slurm.Pending && there:
			s.Running++
		}
	}
	for i := range rec.Sleep.Launches {
		l := &rec.Sleep.Launches[i]
		for _, id := range slurm.TaskIDs(l.Job.ID, l.tasks()) {
			count(id)
		}
	}
	if g := rec.Sleep.Gate; g != nil {
		count(g.Job.ID)
	}
	return s
}
