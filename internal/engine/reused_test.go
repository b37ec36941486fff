package engine

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// A controller that lost its state gives the ids of a run's jobs to others. Their
// waiting is not the run's, and nobody cancels them in its name.
func TestReusedIDs(t *testing.T) {
	for _, test := range []struct {
		name, token string
		submitted   string
		over        bool
	}{
		{"another run's jobs", rand.Text(), "r-launch-one r-wake-1 r-wake-1", true},
		{"what a site writes into comments", "checked", "r-launch-one r-wake-1", false},
		{"no comment", "", "r-launch-one r-wake-1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			if err := b.sleep(t, "one"); err != nil {
				t.Fatal(err)
			}
			b.sched.queue = []slurm.Row{
				{ID: "1", State: slurm.Pending, Reason: "Priority", Token: test.token},
				{ID: "2", State: slurm.Running, Token: test.token},
			}
			b.sched.over = map[string]slurm.Outcome{
				"1": {State: slurm.Pending, Token: test.token}, "2": {State: slurm.Running, Token: test.token},
			}
			for i := range 3 {
				b.at(time.Duration(i+1) * time.Minute)
				if broken := b.pass(t); len(broken) > 0 {
					t.Fatal(broken)
				}
			}
			if got := b.sched.names(); got != test.submitted || len(b.sched.cancelled) > 0 {
				t.Errorf("submitted: %s; cancelled: %q", got, b.sched.cancelled)
			}
			r := b.open(t)
			defer r.Close()
			g, over, err := b.gather(t.Context(), r)
			if err != nil || over != test.over {
				t.Fatalf("the launch is over: %v, %v; want %v", over, err, test.over)
			}
			if j := g.jobs()[0]; over && (j.state != slurm.Unknown || j.code != nil) {
				t.Errorf("it is %+v", j)
			}
		})
	}
}

// A job of another's that will never start is not for the run to cancel.
func TestReusedIDHopeless(t *testing.T) {
	b := newBench(t)
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	row := slurm.Row{ID: "1", State: slurm.Pending, Reason: "PartitionTimeLimit", Token: rand.Text()}
	b.sched.queue = []slurm.Row{row, {ID: "2", State: slurm.Pending}}
	b.pass(t)
	if len(b.sched.cancelled) > 0 {
		t.Errorf("cancelled: %q", b.sched.cancelled)
	}
	b.sched.queue[0].Token = b.sched.jobs[0].Token
	b.pass(t)
	if got := b.sched.cancelled; len(got) != 1 || got[0] != "1" {
		t.Errorf("of its own jobs it cancelled %q", got)
	}
}
