package slurm

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// weather is a cluster of the test's own, whose daemons it may stop.
func weather(t *testing.T, opt slurmtest.Options) *rig {
	t.Helper()
	t.Parallel()
	r := newRig(t, slurmtest.New(t, opt))
	r.opt.Timeout = 30 * time.Second
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// inDoubt says that nothing could be learnt.
func (r *rig) inDoubt(spec JobSpec) {
	r.t.Helper()
	id, err := r.Submit(r.t.Context(), spec)
	if _, refused := errors.AsType[*RefusedError](err); refused || err == nil {
		r.t.Errorf("Submit = %q, %v; want an error that is no refusal", id, err)
	}
	if found, err := r.Find(r.t.Context(), spec.Token); err == nil {
		r.t.Errorf("Find = %q", found)
	}
	if rows, err := r.Queue(r.t.Context()); err == nil {
		r.t.Errorf("Queue = %+v", rows)
	}
}

func TestControllerStopped(t *testing.T) {
	r := weather(t, slurmtest.Options{})
	running := r.shell("until [ -e go ]; do sleep 0.05; done; exit 5")
	id := r.submit(running)
	r.eventually("it runs", func() bool { return r.state(id) == Running })
	r.must(r.cluster.Stop(slurmtest.Slurmctld))
	r.forget()
	spec := r.shell("touch ran")
	_, err := r.Submit(t.Context(), spec)
	if _, refused := errors.AsType[*RefusedError](err); refused || err == nil {
		t.Errorf("Submit, with all the time it wants: %v", err)
	}
	timeout := r.opt.Timeout
	r.opt.Timeout = time.Second // Slurm's programs try for five
	r.inDoubt(spec)
	if got, err := r.Outcomes(t.Context(), []string{id}); err == nil {
		t.Errorf("Outcomes = %+v", got)
	}
	if err := r.Cancel(t.Context(), id); err == nil {
		t.Error("Cancel was not carried out and says nothing")
	}
	if nodes, err := r.Nodes(t.Context(), slurmtest.Lane); err == nil {
		t.Errorf("Nodes = %v", nodes)
	}
	r.opt.Timeout = timeout
	r.touch("go") // the job ends while nobody watches
	r.must(r.cluster.Start(t.Context(), slurmtest.Slurmctld))
	if o := r.ended(id); o.ExitCode == nil || *o.ExitCode != 5 {
		t.Errorf("it ended as %+v", o)
	}
	if r.exists("ran") {
		t.Error("a job ran whose submission had failed")
	}
}

// The controller is so busy that sbatch gives up, and takes the job in after all.
func TestControllerFrozen(t *testing.T) {
	r := weather(t, slurmtest.Options{Accounting: true})
	r.opt.Settle = 5 * time.Second // it has to work off what lay in its socket
	r.must(r.cluster.Freeze(slurmtest.Slurmctld))
	r.opt.Timeout = time.Second
	spec := r.shell("echo ran >> runs")
	r.inDoubt(spec)
	r.must(r.cluster.Thaw(slurmtest.Slurmctld))
	r.opt.Timeout = time.Minute
	id, err := r.Find(t.Context(), spec.Token)
	r.must(err)
	if id == "" {
		t.Fatal("Find is sure that there is no job, and there was one on its way")
	}
	r.ended(id)
	if got := r.read("runs"); got != "ran\n" {
		t.Errorf("it ran as %q", got)
	}
}

func TestMungeStopped(t *testing.T) {
	r := weather(t, slurmtest.Options{})
	r.must(r.cluster.Stop(slurmtest.Munged))
	r.opt.Timeout = 15 * time.Second
	spec := r.shell("touch ran")
	r.inDoubt(spec)
	r.must(r.cluster.Start(t.Context(), slurmtest.Munged))
	id, err := r.Find(t.Context(), spec.Token)
	r.must(err)
	if id == "" {
		id = r.submit(spec)
	}
	if o := r.ended(id); o.State != Completed {
		t.Errorf("it ended as %+v", o)
	}
}

// While the database is away, the controller answers for what it knows, and
// nothing is said of the rest.
func TestAccountingStopped(t *testing.T) {
	r := weather(t, slurmtest.Options{Accounting: true})
	forgotten := r.shell("exit 6")
	old := r.submit(forgotten)
	r.ended(old)
	r.inAccounting(old)
	r.eventually("accounting knows the token", func() bool { // it gets it later than the end
		found, err := r.accountToken(t.Context(), forgotten.Token)
		r.must(err)
		return found == old
	})
	r.must(r.cluster.LoseMemory(t.Context()))
	r.forget()
	if o := r.outcome(old); o.State != Failed || o.ExitCode == nil || *o.ExitCode != 6 {
		t.Errorf("by accounting alone, it ended as %+v", o)
	}
	if found, err := r.Find(t.Context(), forgotten.Token); found != old || err != nil {
		t.Errorf("Find by accounting alone = %q, %v; want %q", found, err, old)
	}

	r.must(r.cluster.Stop(slurmtest.Slurmdbd))
	now := time.Now()
	r.opt.Now = func() time.Time { return now }
	r.forget()
	if o := r.outcome(old); o.State != Unknown || o.Reason == "" {
		t.Errorf("with accounting out of reach, it is %+v", o)
	}
	if found, err := r.Find(t.Context(), forgotten.Token); err == nil {
		t.Errorf("with accounting out of reach, Find = %q", found)
	}
	r.opt.Now = time.Now
	spec := r.shell("exit 7")
	id := r.submit(spec)
	if o := r.ended(id); o.ExitCode == nil || *o.ExitCode != 7 {
		t.Errorf("a job in the controller's memory ended as %+v", o)
	}
	if found, err := r.Find(t.Context(), spec.Token); found != id || err != nil {
		t.Errorf("Find = %q, %v; want %q", found, err, id)
	}

	r.must(r.cluster.Start(t.Context(), slurmtest.Slurmdbd))
	r.forget()
	r.opt.Now = func() time.Time { return now.Add(time.Hour) } // the outage is forgotten
	if o := r.outcome(old); o.State != Failed {
		t.Errorf("with accounting back, it is %+v", o)
	}
}

// Ids that were used before: what the database has under them are other jobs.
func TestReusedIDs(t *testing.T) {
	r := weather(t, slurmtest.Options{Accounting: true, StoreComments: true})
	first := r.shell("true")
	id := r.submit(first)
	if o := r.ended(id); o.State != Completed {
		t.Fatalf("it ended as %+v", o)
	}
	r.inAccounting(id)
	r.must(r.cluster.LoseMemory(t.Context()))
	r.forget()
	spec := r.shell("until [ -e go ]; do sleep 0.05; done; exit 8")
	again, n := "", 0
	for again != id {
		if again = r.submit(spec); again != id {
			r.must(r.Cancel(t.Context(), again))
		}
		if n++; n > 10 {
			t.Fatalf("no id was used again: %s is the latest", again)
		}
	}
	if o := r.outcome(id); o.State.Terminal() || OtherJob(o.Token, spec.Token) || !OtherJob(o.Token, first.Token) {
		t.Errorf("a job that has just gone in under the id of an older one is %+v", o)
	}
	if found, err := r.Find(t.Context(), spec.Token); found != id || err != nil {
		t.Errorf("Find = %q, %v; want %q", found, err, id)
	}
	r.touch("go")
	if o := r.ended(id); o.ExitCode == nil || *o.ExitCode != 8 {
		t.Errorf("it ended as %+v", o)
	}
	r.inAccounting(id)
	got, err := r.sacct(t.Context(), []string{id})
	if o := got[id]; err != nil || o.State != Failed || o.ExitCode == nil || *o.ExitCode != 8 {
		t.Errorf("by accounting alone, it ended as %+v, %v", o, err)
	}
}

func TestDrained(t *testing.T) {
	r := weather(t, slurmtest.Options{})
	r.must(r.cluster.Drain(t.Context()))
	if nodes, err := r.Nodes(t.Context(), slurmtest.Lane); err != nil || nodes["drained"] != 1 {
		t.Errorf("Nodes = %v, %v", nodes, err)
	}
	id := r.submit(r.shell("true"))
	r.eventually("there is a reason", func() bool { return r.outcome(id).Reason != "" })
	if o := r.outcome(id); o.State != Pending || Hopeless(o.Reason) {
		t.Errorf("it is %+v", o)
	}
	r.must(r.cluster.Resume(t.Context()))
	if o := r.ended(id); o.State != Completed {
		t.Errorf("it ended as %+v", o)
	}
}

// inAccounting waits until the database knows how a job has ended this time, which
// takes it some seconds.
func (r *rig) inAccounting(id string) {
	r.t.Helper()
	want := r.outcome(id)
	r.eventually("accounting knows job "+id, func() bool {
		got, err := r.sacct(context.Background(), []string{id})
		r.must(err)
		return got[id].State == want.State
	})
}

// Where the controller remembers nothing and there is no database, a job that has
// ended is not known any more; that is an answer.
func TestForgotten(t *testing.T) {
	r := weather(t, slurmtest.Options{})
	spec := r.shell("true")
	id := r.submit(spec)
	r.ended(id)
	r.must(r.cluster.LoseMemory(t.Context()))
	r.forget()
	n, _ := strconv.Atoi(id)
	got, err := r.Outcomes(t.Context(), []string{id, strconv.Itoa(n + 1)})
	if err != nil || len(got) != 0 {
		t.Errorf("Outcomes = %+v, %v", got, err)
	}
	if found, err := r.Find(t.Context(), spec.Token); found != "" || err != nil {
		t.Errorf("Find = %q, %v", found, err)
	}
}
