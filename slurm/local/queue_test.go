//go:build linux

package local

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/slurm"
)

// stands is the queue as state and reason by id.
func (r *rig) stands() map[string]string {
	r.t.Helper()
	m := map[string]string{}
	for id, row := range r.queue() {
		m[id] = string(row.State) + " " + row.Reason
	}
	return m
}

func (r *rig) wantQueue(want map[string]string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.stands()); diff != "" {
		r.t.Errorf("queue (-want +got):\n%s", diff)
	}
}

func cpus(n int) func(*slurm.JobSpec) { return func(s *slurm.JobSpec) { s.CPUs = n } }

func after(ids ...string) func(*slurm.JobSpec) {
	return func(s *slurm.JobSpec) { s.After = ids }
}

func TestSlotsAreTakenInOrder(t *testing.T) {
	r := newRig(t)
	first := r.submit(until("go1"))
	wide := r.submit(until("go2"), cpus(2))
	narrow := r.submit("exit 0")
	free := r.submit(until("go0"), cpus(0))
	// One slot is free, and the narrow job would fit; but then the wide one
	// might never start.
	r.wantQueue(map[string]string{
		first:  "RUNNING None",
		wide:   "PENDING Resources",
		narrow: "PENDING Priority",
		free:   "RUNNING None",
	})
	if got := r.look(narrow); got.State != slurm.Pending || got.Reason != "Priority" {
		t.Errorf("outcome of a waiting job is %+v", got)
	}
	r.mark("go1")
	r.eventually("the wide job runs", func() bool { return r.look(wide).State == slurm.Running })
	r.wantQueue(map[string]string{
		wide:   "RUNNING None",
		narrow: "PENDING Resources",
		free:   "RUNNING None",
	})
	r.mark("go2")
	r.wait(narrow, slurm.Completed)
	r.mark("go0")
	r.wait(free, slurm.Completed)
	r.wantQueue(map[string]string{})
}

// Whatever the order of events, no more tasks run than there are slots.
func TestSlotsAreNeverOverbooked(t *testing.T) {
	r := newRig(t)
	const n = 12
	id := r.submit(`mkdir running.$SWEEP_INDEX; ls -d running.* | wc -l >>counts; rmdir running.$SWEEP_INDEX`,
		func(s *slurm.JobSpec) { s.Array = n })
	r.wait(id, slurm.Completed)
	counts := r.lines("counts")
	if len(counts) != n {
		t.Errorf("%d tasks ran, want %d", len(counts), n)
	}
	for _, c := range counts {
		if c != "1" && c != "2" {
			t.Errorf("%s tasks ran side by side on two slots", c)
		}
	}
}

func TestThrottle(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CPUs = 8 })
	sweep := r.submit(until("go.$SWEEP_INDEX"), func(s *slurm.JobSpec) { s.Array, s.Throttle = 3, 1 })
	// A job behind a throttled one is in nobody's way.
	other := r.submit(until("go"))
	r.wantQueue(map[string]string{
		sweep + "_0": "RUNNING None",
		sweep + "_1": "PENDING JobArrayTaskLimit",
		sweep + "_2": "PENDING JobArrayTaskLimit",
		other:        "RUNNING None",
	})
	if got := r.queue()[sweep+"_1"].Throttle; got != 1 {
		t.Errorf("the row says %d tasks at a time, want 1", got)
	}
	r.mark("go.0")
	r.wait(sweep+"_0", slurm.Completed)
	r.wantQueue(map[string]string{
		sweep + "_1": "RUNNING None",
		sweep + "_2": "PENDING JobArrayTaskLimit",
		other:        "RUNNING None",
	})
	if got := r.look(sweep).State; got != slurm.Running {
		t.Errorf("the array as a whole is %s", got)
	}
	for _, m := range []string{"go.1", "go.2", "go"} {
		r.mark(m)
	}
	r.wait(sweep, slurm.Completed)
	r.wait(other, slurm.Completed)
}

// From the first mark on nobody visits the directory but shepherds.
func TestChainRunsWithoutAKernel(t *testing.T) {
	r := newRig(t)
	first := r.submit(until("go") + "echo first >>order; exit 1")
	sweep := r.submit("echo sweep >>order", after(first), func(s *slurm.JobSpec) { s.Array, s.Throttle = 3, 1 })
	oneTask := r.submit("echo task >>order", after(sweep+"_1", sweep))
	last := r.submit("echo last >>order; : >done", after(first, sweep, oneTask))
	r.wantQueue(map[string]string{
		first:        "RUNNING None",
		sweep + "_0": "PENDING Dependency",
		sweep + "_1": "PENDING Dependency",
		sweep + "_2": "PENDING Dependency",
		oneTask:      "PENDING Dependency",
		last:         "PENDING Dependency",
	})
	r.mark("go")
	r.waitFile("done")
	want := "first sweep sweep sweep task last"
	if got := strings.Join(r.lines("order"), " "); got != want {
		t.Errorf("jobs ran as %q, want %q", got, want)
	}
	r.wait(first, slurm.Failed)
	r.wait(last, slurm.Completed)
}

func TestDependencyOnATask(t *testing.T) {
	r := newRig(t)
	sweep := r.submit(until("go.$SWEEP_INDEX"), func(s *slurm.JobSpec) { s.Array = 2 })
	id := r.submit("exit 0", after(sweep+"_0"))
	r.mark("go.0")
	r.wait(id, slurm.Completed)
	if got := r.look(sweep + "_1").State; got != slurm.Running {
		t.Errorf("the other task is %s", got)
	}
}

func TestGPUsAreExclusive(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CPUs, o.GPUs = 8, 3 })
	gpus := func(n int) func(*slurm.JobSpec) { return func(s *slurm.JobSpec) { s.CPUs, s.GPUs = 0, n } }
	const say = "echo $CUDA_VISIBLE_DEVICES >gpus.$OUTERLOOP_JOB_ID; "
	a := r.submit(say+until("go.a"), gpus(1))
	b := r.submit(say+until("go.b"), gpus(2))
	c := r.submit(say, gpus(2))
	none := r.submit(say, gpus(0))
	r.wait(none, slurm.Completed)
	r.wantQueue(map[string]string{a: "RUNNING None", b: "RUNNING None", c: "PENDING Resources"})
	if row := r.queue()[b]; row.GRES != "gpu:2" || slurm.GPUs(row.GRES) != 2 {
		t.Errorf("the row says %q", row.GRES)
	}
	r.mark("go.a") // frees index 0, one too few
	r.wait(a, slurm.Completed)
	r.wantQueue(map[string]string{b: "RUNNING None", c: "PENDING Resources"})
	r.mark("go.b")
	r.wait(c, slurm.Completed)
	got := map[string]string{}
	for name, id := range map[string]string{"a": a, "b": b, "c": c, "none": none} {
		got[name] = strings.TrimSpace(r.read("gpus." + id))
	}
	want := map[string]string{"a": "0", "b": "1,2", "c": "0,1", "none": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
}

func TestBeginTime(t *testing.T) {
	// The shepherds go by the real clock, and begin is in its future.
	begin := time.Now().Add(24 * time.Hour)
	var now atomic.Pointer[time.Time]
	early := begin.Add(-time.Nanosecond)
	now.Store(&early)
	r := newRig(t, func(o *Options) { o.Now = func() time.Time { return *now.Load() } })
	id := r.submit("exit 0", func(s *slurm.JobSpec) { s.Begin = begin })
	other := r.submit("exit 0")
	r.wait(other, slurm.Completed)
	r.wantQueue(map[string]string{id: "PENDING BeginTime"})
	now.Store(&begin)
	r.wait(id, slurm.Completed)
}

func TestRow(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	r := newRig(t, func(o *Options) { o.Now = func() time.Time { return at } })
	id := r.submit("exit 0", cpus(2), after(r.submit(until("go"), func(s *slurm.JobSpec) {
		s.Name, s.Token, s.Account, s.Minutes = "a name", "tok", "acc", 90
	})), func(s *slurm.JobSpec) { s.Array = 1 })
	want := map[string]slurm.Row{
		"1": {
			ID: "1", Name: "a name", State: slurm.Running, Elapsed: "0:00", Limit: "1:30:00", Partition: "local",
			Submitted: at.Local().Format("2006-01-02T15:04:05"), Reason: "None", GRES: "N/A", Account: "acc", Token: "tok",
		},
		"2_0": {
			ID: id + "_0", Name: "test", State: slurm.Pending, Elapsed: "0:00", Limit: "10:00", Partition: "local",
			Submitted: at.Local().Format("2006-01-02T15:04:05"), Reason: "Dependency", GRES: "N/A",
		},
	}
	got := r.queue()
	// The shepherd's clock is the real one.
	one := got["1"]
	one.Elapsed = "0:00"
	got["1"] = one
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A machine that became smaller does not let a job that is now too wide stand in
// the way of all others.
func TestSmallerMachine(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CPUs = 4 })
	first := r.submit(until("go"))
	wide := r.submit("exit 0", cpus(4))
	r.opt.CPUs = 1
	r.open()
	id := r.submit("exit 0")
	r.wantQueue(map[string]string{first: "RUNNING None", wide: "PENDING Resources", id: "PENDING Resources"})
	r.mark("go")
	r.wait(id, slurm.Completed)
	r.wantQueue(map[string]string{wide: "PENDING Resources"})
	r.opt.CPUs = 4
	r.open()
	r.wait(wide, slurm.Completed)
}
