package slurm

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What the cluster turns down is refused in its own words.
func TestRefused(t *testing.T) {
	everyKind(t, func(r *rig) {
		for what, tt := range map[string]struct {
			change func(*JobSpec)
			says   string
		}{
			"partition": {func(s *JobSpec) { s.Partition = "nowhere" }, "Invalid partition name specified"},
			"array":     {func(s *JobSpec) { s.Array = 100_000 }, "Invalid job array specification"},
			"tasks":     {func(s *JobSpec) { s.Array = 100_001 }, "ask for 0 to 100000"},
			"GPUs":      {func(s *JobSpec) { s.GPUs = 99 }, "Requested node configuration is not available"},
			"memory":    {func(s *JobSpec) { s.MemoryMB = 99_000_000 }, "Memory specification can not be satisfied"},
			"token":     {func(s *JobSpec) { s.Token = "two words" }, "one word"},
			"after":     {func(s *JobSpec) { s.After = []string{"afterok:1"} }, "no id"},
			"zero":      {func(s *JobSpec) { s.Env = []string{"A=secret\x00"} }, "zero byte"},
			"variable":  {func(s *JobSpec) { s.Env = []string{"A-B=secret"} }, "NAME=value"},
			"output":    {func(s *JobSpec) { s.Output = `a\b` }, "backslash"},
		} {
			spec := r.shell("touch ran")
			tt.change(&spec)
			id, err := r.Submit(r.t.Context(), spec)
			refused, ok := errors.AsType[*RefusedError](err)
			if !ok || !strings.Contains(refused.Reason, tt.says) || strings.Contains(refused.Reason, "secret") {
				r.t.Errorf("%s: %q, %v; want a refusal that says %q", what, id, err, tt.says)
			}
		}
		if r.exists("ran") {
			r.t.Error("a job that was refused ran")
		}
	})
}

func TestRefusedByAccounting(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared.with.Get(t))
	for what, tt := range map[string]struct {
		opt  Options
		says string
	}{
		"account": {Options{Account: "nobody's"}, "Invalid account"},
		"QOS":     {Options{QOS: "best"}, "Invalid qos"},
	} {
		tt.opt.Config, tt.opt.Path = r.cluster.Config(), clientPath
		_, err := New(tt.opt).Submit(t.Context(), r.shell("true"))
		if refused, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(refused.Reason, tt.says) {
			t.Errorf("%s: %v; want a refusal that says %q", what, err, tt.says)
		}
	}
	spec := r.shell("true")
	spec.Account = "other"
	spec.Begin = time.Now().Add(time.Hour)
	if rows := r.rows(r.submit(spec)); len(rows) != 1 || rows[0].Account != "other" {
		t.Errorf("its rows are %+v", rows)
	}
}

// A job runs after others, however they ended, and after jobs that are long over.
func TestAfter(t *testing.T) {
	everyKind(t, func(r *rig) {
		failing := r.submit(r.shell("exit 1"))
		r.ended(failing)
		sweep := r.shell("until [ -e go ]; do sleep 0.05; done")
		sweep.Array = 2
		tasks := r.submit(sweep)
		waiting := r.shell("touch ran")
		waiting.After = []string{failing, tasks}
		id := r.submit(waiting)
		if o := r.outcome(id); o.State != Pending || Hopeless(o.Reason) {
			r.t.Errorf("it is %+v", o)
		}
		if err := r.Cancel(r.t.Context(), TaskID(tasks, 1)); err != nil {
			r.t.Fatal(err)
		}
		r.ended(TaskID(tasks, 1))
		if o := r.outcome(id); o.State != Pending {
			r.t.Errorf("with one task left it is %+v", o)
		}
		r.touch("go")
		if o := r.ended(id); o.State != Completed || !r.exists("ran") {
			r.t.Errorf("it ended as %+v", o)
		}
	})
}

func TestCancel(t *testing.T) {
	everyKind(t, func(r *rig) {
		over := r.submit(r.shell("true"))
		r.ended(over)
		running := r.submit(r.shell("trap 'touch told; exit 0' TERM; touch up; while :; do sleep 0.05; done"))
		r.eventually("it runs", func() bool { return r.exists("up") })
		wait := r.shell("touch ran")
		wait.Begin = time.Now().Add(time.Hour)
		waiting := r.submit(wait)
		// In one call, with what does not exist and what never could.
		if err := r.Cancel(r.t.Context(), over, waiting, "4000000000", "4000000000_1", over+"_7", "x", running); err != nil {
			r.t.Fatal(err)
		}
		if err := r.Cancel(r.t.Context()); err != nil {
			r.t.Error(err)
		}
		for id, want := range map[string]State{over: Completed, waiting: Cancelled, running: Cancelled} {
			if o := r.ended(id); o.State != want || o.ExitCode != nil && want == Cancelled {
				r.t.Errorf("job %s ended as %+v, want %s", id, o, want)
			}
		}
		if !r.exists("told") {
			r.t.Error("the running job got no SIGTERM")
		}
	})
}

// A job that did not come to an end of its own has no exit code; the state says why.
func TestNoExitCode(t *testing.T) {
	everyKind(t, func(r *rig) {
		jobs := map[string]JobSpec{
			"killed":   r.shell("kill -9 $$"),
			"memory":   r.shell("x=x; while :; do x=$x$x; done"),
			"walltime": r.shell("touch up; sleep 3600"),
			"output":   r.shell("touch ran"),
		}
		ids := map[string]string{}
		for what, spec := range jobs {
			spec.Token += what
			switch what {
			case "memory":
				spec.MemoryMB = 20
			case "output":
				spec.Output = "/no/such/directory/out"
			}
			ids[what] = r.submit(spec)
		}
		r.eventually("it runs", func() bool { return r.exists("up") })
		// A walltime is a minute at least, and looked at twice a minute.
		r.run("scontrol", "update", "job="+ids["walltime"], "EndTime=now")
		for what, id := range ids {
			o := r.ended(id)
			want := Failed
			if what == "walltime" {
				want = Timeout
			}
			// Where control groups watch over memory, it is a state of its own.
			if o.State != want && (what != "memory" || o.State != OutOfMemory) || o.ExitCode != nil || !o.Elapsed.Known {
				r.t.Errorf("%s: it ended as %+v", what, o)
			}
		}
	})
}

// A requeued job is the same job, and runs again.
func TestRequeue(t *testing.T) {
	everyKind(t, func(r *rig) {
		spec := r.shell("echo run; until [ -e go ]; do sleep 0.05; done; exit 4")
		id := r.submit(spec)
		r.eventually("it runs", func() bool { return r.exists("out") && r.read("out") == "run\n" })
		r.run("scontrol", "requeue", id)
		r.eventually("it waits", func() bool { return r.state(id) == Pending })
		r.run("scontrol", "update", "job="+id, "StartTime=now") // Slurm lets two minutes pass
		r.touch("go")
		if o := r.ended(id); o.State != Failed || o.ExitCode == nil || *o.ExitCode != 4 {
			r.t.Errorf("it ended as %+v", o)
		}
		// Slurm writes there, too, that it ended the first run.
		if got := r.read("out"); strings.Count(got, "run\n") != 2 {
			r.t.Errorf("it printed %q", got)
		}
		if found, err := r.Find(r.t.Context(), spec.Token); found != id || err != nil {
			r.t.Errorf("Find = %q, %v; want %q", found, err, id)
		}
	})
}

// Reasons that the cluster itself gives.
func TestHopelessJobs(t *testing.T) {
	everyKind(t, func(r *rig) {
		for what, tt := range map[string]struct {
			change   func(*JobSpec)
			reason   string
			hopeless bool
		}{
			"time":    {func(s *JobSpec) { s.Partition, s.Minutes = "spare", 61 }, "PartitionTimeLimit", true},
			"CPUs":    {func(s *JobSpec) { s.CPUs = 17 }, "PartitionConfig", true},
			"down":    {func(s *JobSpec) { s.Partition = "ghost" }, "", false},
			"begin":   {func(s *JobSpec) { s.Begin = time.Now().Add(time.Hour) }, "BeginTime", false},
			"waiting": {func(s *JobSpec) { s.GPUs, s.Begin = 4, time.Now().Add(time.Hour) }, "BeginTime", false},
		} {
			spec := r.shell("true")
			tt.change(&spec)
			id, err := r.Submit(r.t.Context(), spec)
			if _, refused := errors.AsType[*RefusedError](err); refused && tt.hopeless {
				continue // some settings refuse at once
			}
			if err != nil {
				r.t.Fatal(err)
			}
			var o Outcome
			r.eventually("there is a reason", func() bool {
				o = r.outcome(id)
				return o.Reason != "" && (tt.reason == "" && o.Reason != "Priority" || o.Reason == tt.reason)
			})
			if Hopeless(o.Reason) != tt.hopeless {
				r.t.Errorf("%s: %q is hopeless: %v; want %v", what, o.Reason, !tt.hopeless, tt.hopeless)
			}
			if err := r.Cancel(r.t.Context(), id); err != nil {
				r.t.Error(err)
			}
		}
	})
}
