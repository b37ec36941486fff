package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

func TestAttribute(t *testing.T) {
	b := newBench(t)
	path := ledgerPath(b.Root.RunDir(b.id))
	_, err := ledger.AppendSubmitted(t.Context(), path, ledger.Submitted{
		Sleep: 1, Name: "one", Why: "which is best", Minutes: 1, Array: 2, JobIDs: []string{"7"}, At: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRun(t.Context(), b.Root, b.id, 0, operator)
	if err != nil {
		t.Fatal(err)
	}
	r.Wake = Submission{Token: "wake", ID: "10"}
	r.Sleep = &Sleep{Number: 1, Gate: &Gate{Job: Submission{Token: "gate"}}} // its answer is on its way
	if err := errors.Join(r.save(), r.Close()); err != nil {
		t.Fatal(err)
	}
	rows := []slurm.Row{
		{ID: "7_1", Name: "r-launch-one"},
		{ID: "8", Name: "r-wake-1", Token: "wake"},
		{ID: "9", Name: "r-eval-1", Token: "gate"},
		{ID: "10", Name: "r-leg-0"},
		{ID: "11", Name: b.Root.ResidentName()},
		{ID: "12", Name: "secret-project"},
		{ID: "13", Name: "other-launch-one"},            // of no run here
		{ID: "14", Name: "r-launch-one", Token: "x"},    // of a run of that name in another state root
		{ID: "10", Name: "r-leg-0", Token: "else"},      // likewise, and its id was the run's before
		{ID: "15", Name: "outerloop-resident-f00dfeed"}, // likewise
	}
	want := []struct{ run, agent, kind, experiment, why string }{
		{"r", "a", "launch", "one", "which is best"},
		{"r", "a", "wake", "", ""},
		{"r", "a", "eval", "", ""},
		{"r", "a", "leg", "", ""},
		{"", "", "resident", "", ""},
		{"", "", "5 more of the account, of no run here", "", ""},
	}
	jobs := attribute(b.Root, rows)
	if len(jobs) != len(want) {
		t.Fatalf("%+v", jobs)
	}
	for i, w := range want {
		j := jobs[i]
		if j.RunID != w.run || j.Agent != w.agent || j.Kind != w.kind || j.Experiment != w.experiment || j.Why != w.why {
			t.Errorf("%s: %+v, want %+v", j.ID, j, w)
		}
	}
}
