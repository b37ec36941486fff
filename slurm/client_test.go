package slurm

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestJobRuns(t *testing.T) {
	everyKind(t, func(r *rig) {
		spec := r.shell("echo hello; exit 3")
		id := r.submit(spec)
		o := r.ended(id)
		if o.State != Failed || o.ExitCode == nil || *o.ExitCode != 3 || !o.Elapsed.Known {
			r.t.Errorf("it ended as %+v", o)
		}
		if got := r.read("out"); got != "hello\n" {
			r.t.Errorf("it printed %q", got)
		}
		if found, err := r.Find(r.t.Context(), spec.Token); found != id || err != nil {
			r.t.Errorf("Find = %q, %v; want %q", found, err, id)
		}
		if found, err := r.Find(r.t.Context(), spec.Token+"x"); found != "" || err != nil {
			r.t.Errorf("Find of what was never submitted = %q, %v", found, err)
		}
	})
}

// A job sees the environment that it was given, whatever is in it, and where and
// what it is, and nothing else.
func TestEnvironment(t *testing.T) {
	everyKind(t, func(r *rig) {
		given := []string{
			"PATH=/usr/bin:/bin", "PLAIN=1", "EMPTY=", "SPACES=  a  b ", "QUOTES='\"$HOME`id`\\",
			"LINES=a\n#SBATCH --time=1\nEND\nEND-END\nb\n", "UTF8=größer", "DOS=a\r\nb\r\n",
		}
		spec := r.shell("")
		spec.Command = []string{"/usr/bin/env", "--null"}
		spec.Env = slices.Concat(given, []string{"CUDA_VISIBLE_DEVICES=7", "SLURM_JOB_ID=1", "SLURM_CPU_BIND=none", "SWEEP_INDEX=9"})
		spec.GPUs = 1
		id := r.submit(spec)
		r.ended(id)
		var seen []string
		for kv := range strings.SplitSeq(strings.TrimSuffix(r.read("out"), "\x00"), "\x00") {
			seen = append(seen, kv)
			switch name, value, _ := strings.Cut(kv, "="); {
			case slices.Contains(given, kv):
			case name == "_": // some shells set it
			case name == "SLURM_JOB_ID" && value != id, name == "CUDA_VISIBLE_DEVICES" && value == "7":
				r.t.Errorf("the job sees %q, which was not for its spec to say", kv)
			case !slices.Contains(allocated(), name):
				r.t.Errorf("the job sees %q", kv)
			}
		}
		for _, kv := range append(given, "SLURM_JOB_ID="+id, "SLURM_CONF="+r.cluster.Config()) {
			if !slices.Contains(seen, kv) {
				r.t.Errorf("the job does not see %q", kv)
			}
		}
		if shown := r.run("scontrol", "show", "job", id); strings.Contains(shown, "größer") {
			r.t.Errorf("scontrol shows the job's environment: %s", shown)
		}
	})
}

func TestSweep(t *testing.T) {
	everyKind(t, func(r *rig) {
		spec := r.shell(`echo $SWEEP_INDEX; until [ -e go ]; do sleep 0.05; done; exit $SWEEP_INDEX`)
		spec.Array, spec.Throttle = 4, 2
		spec.Output = "100%%-%j.%a.%N"
		id := r.submit(spec)
		r.eventually("two tasks run and two wait", func() bool {
			states := map[State]int{}
			for _, row := range r.rows(id) {
				states[row.State]++
			}
			return states[Running] == 2 && states[Pending] == 2
		})
		for i, row := range r.rows(id) {
			if row.ID != TaskID(id, i) || row.Throttle != 2 || row.Token != spec.Token {
				r.t.Errorf("row %d is %+v", i, row)
			}
		}
		if o := r.outcome(id); o.State != Running {
			r.t.Errorf("as a whole it is %+v", o)
		}
		// The first reason that Slurm gives is of the pass at submission, which looks no further than Resources.
		r.eventually("the last task waits for its throttle", func() bool {
			o := r.outcome(TaskID(id, 3))
			return o.State == Pending && o.Reason == "JobArrayTaskLimit"
		})
		// One task is canceled while it waits, another while it runs.
		if err := r.Cancel(r.t.Context(), TaskID(id, 0), TaskID(id, 3)); err != nil {
			r.t.Fatal(err)
		}
		r.touch("go")
		want := map[int]State{0: Cancelled, 1: Failed, 2: Failed, 3: Cancelled}
		for i, state := range want {
			o := r.ended(TaskID(id, i))
			if o.State != state || (o.ExitCode != nil) != (state == Failed) || o.ExitCode != nil && *o.ExitCode != i {
				r.t.Errorf("task %d ended as %+v", i, o)
			}
		}
		if o := r.outcome(id); o.State != Cancelled {
			r.t.Errorf("as a whole it ended as %+v", o)
		}
		if got := r.read("100%-" + id + ".2.%N"); got != "2\n" {
			r.t.Errorf("task 2 printed %q", got)
		}
		if found, err := r.Find(r.t.Context(), spec.Token); found != id || err != nil {
			r.t.Errorf("Find = %q, %v; want %q", found, err, id)
		}
	})
}

// What is in a row, for a job that waits.
func TestQueue(t *testing.T) {
	everyKind(t, func(r *rig) {
		spec := r.shell("true")
		spec.Name = "größer, 'than' \"life\" | %j"
		spec.GPUs, spec.CPUs, spec.MemoryMB, spec.Nice = 2, 3, 100, 5
		spec.Partition = "spare"
		spec.Minutes = 59
		spec.Begin = time.Now().Add(time.Hour)
		id := r.submit(spec)
		var rows []Row
		r.eventually("one row says that it waits for its time", func() bool {
			// Until Slurm's scheduler has seen it, a job may be said to wait for Resources.
			rows = r.rows(id)
			return len(rows) == 1 && rows[0].Reason == "BeginTime"
		})
		got := rows[0]
		if _, err := time.ParseInLocation("2006-01-02T15:04:05", got.Submitted, time.Local); err != nil {
			r.t.Error(err)
		}
		got.Submitted, got.Account = "", ""
		want := Row{
			ID: id, Name: spec.Name, State: Pending, Elapsed: "0:00", Limit: "59:00",
			Partition: "spare", Reason: "BeginTime", GRES: "gpu:2", Token: spec.Token,
		}
		if got != want {
			r.t.Errorf("got  %+v\nwant %+v", got, want)
		}
		shown := r.run("scontrol", "show", "job", id)
		for _, s := range []string{"Nice=5", "CPUs/Task=3", "MinMemoryNode=100M", "Requeue=1"} {
			if !strings.Contains(shown, s) {
				r.t.Errorf("scontrol does not show %s: %s", s, shown)
			}
		}
	})
}

// What others of the same user put into names and comments makes no rows.
func TestForgedRows(t *testing.T) {
	everyKind(t, func(r *rig) {
		victim := r.shell("true")
		victim.Begin = time.Now().Add(time.Hour)
		id := r.submit(victim)
		row := strings.Join([]string{id, id, "N/A", "COMPLETED", "0", "0:00", "1:00", "main", "", "None", "N/A", "x", "0", "forged", "forged"}, unitSeparator)
		evil := unitSeparator + "x" + recordSeparator + "\n" + row + recordSeparator + "\n"
		cmd := exec.CommandContext(r.t.Context(), "sbatch", "--parsable", "--hold", "--output=/dev/null", "--job-name="+evil, "--comment="+evil, "--wrap=true")
		cmd.Env = append(r.cluster.Env(), "PATH="+clientPath)
		out, err := cmd.Output()
		if err != nil {
			r.t.Fatal(err)
		}
		other, _ := parseSubmitted(string(out))
		defer r.Cancel(context.Background(), other)
		if rows := r.rows(other); len(rows) != 1 || rows[0].Name != evil {
			r.t.Errorf("the forger's rows are %+v", rows)
		}
		if rows := r.rows(id); len(rows) != 1 || rows[0].State != Pending {
			r.t.Errorf("the victim's rows are %+v", rows)
		}
		if found, err := r.Find(r.t.Context(), "forged"); found != "" || err != nil {
			r.t.Errorf("Find = %q, %v", found, err)
		}
	})
}

// Accounting is slow to learn and is not needed for what the controller knows: one
// squeue answers for the queue and for the outcomes.
func TestCalls(t *testing.T) {
	everyKind(t, func(r *rig) {
		ended := r.submit(r.shell("true"))
		r.ended(ended)
		wait := r.shell("true")
		wait.Begin = time.Now().Add(time.Hour)
		waiting := r.submit(wait)
		f := r.faulty(time.Minute)
		now := time.Now()
		f.opt.Now = func() time.Time { return now }
		if _, err := f.Queue(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		got, err := f.Outcomes(r.t.Context(), []string{ended, waiting})
		if err != nil || got[ended].State != Completed || got[waiting].State != Pending {
			r.t.Errorf("Outcomes = %+v, %v", got, err)
		}
		if squeue, sacct := f.calls("squeue"), f.calls("sacct"); squeue != 1 || sacct != 0 {
			r.t.Errorf("squeue was called %d times, sacct %d times; want 1 and 0", squeue, sacct)
		}
		now = now.Add(listingReuse + 1)
		got, err = f.Outcomes(r.t.Context(), []string{ended, "4000000000", "no-id", ""})
		if _, known := got["4000000000"]; err != nil || known || len(got) != 1 {
			r.t.Errorf("Outcomes = %+v, %v", got, err)
		}
		if squeue, sacct := f.calls("squeue"), f.calls("sacct"); squeue != 2 || sacct != 1 {
			r.t.Errorf("squeue was called %d times, sacct %d times; want 2 and 1", squeue, sacct)
		}
	})
}

// One pass asks squeue once, however long it takes, and calls no job gone that came
// after its listing.
func TestOutcomesSince(t *testing.T) {
	everyKind(t, func(r *rig) {
		wait := r.shell("true")
		wait.Begin = time.Now().Add(time.Hour)
		waiting := r.submit(wait)
		f := r.faulty(time.Minute)
		now := time.Now()
		f.opt.Now = func() time.Time { return now }
		begin := now
		if _, err := f.Queue(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		now = now.Add(time.Hour)
		got, err := f.OutcomesSince(r.t.Context(), []string{waiting, "4000000000"}, begin)
		if _, known := got["4000000000"]; err != nil || known || got[waiting].State != Pending {
			r.t.Errorf("OutcomesSince = %+v, %v", got, err)
		}
		if squeue, sacct := f.calls("squeue"), f.calls("sacct"); squeue != 1 || sacct != 1 {
			r.t.Errorf("squeue was called %d times, sacct %d times; want 1 and 1", squeue, sacct)
		}
		later := r.submit(wait)
		got, err = f.OutcomesSince(r.t.Context(), []string{later}, now)
		if err != nil || got[later].State != Pending {
			r.t.Errorf("OutcomesSince = %+v, %v", got, err)
		}
		if squeue := f.calls("squeue"); squeue != 2 {
			r.t.Errorf("squeue was called %d times, not 2", squeue)
		}
	})
}

// What the caller's environment holds changes neither answers nor jobs.
func TestCallersEnvironment(t *testing.T) {
	for key, value := range map[string]string{
		"SQUEUE_FORMAT": "%j", "SQUEUE_FORMAT2": "name", "SQUEUE_STATES": "CANCELLED", "SQUEUE_USERS": "nobody", "SQUEUE_SORT": "j",
		"SACCT_FORMAT": "jobname", "SLURM_TIME_FORMAT": "%s", "SINFO_FORMAT": "%P", "SLURM_CLUSTERS": "nowhere",
		"SBATCH_ACCOUNT": "other", "SBATCH_ARRAY_INX": "0-9", "SBATCH_HOLD": "1", "SBATCH_BEGIN": "now+1hour", "SBATCH_EXPORT": "NONE",
		"SLURM_CPU_BIND": "mask_cpu:0x1", "SLURM_JOB_ID": "1", "SLURM_NTASKS": "7", "SECRET": "s3cret",
	} {
		t.Setenv(key, value)
	}
	for _, s := range []*rig{newRig(t, shared.with.Get(t)), newRig(t, shared.without.Get(t))} {
		spec := s.shell("exit 3")
		id := s.submit(spec)
		for _, row := range s.rows(id) {
			if _, err := time.Parse("2006-01-02T15:04:05", row.Submitted); err != nil || row.Name != "job" || row.Account == "other" {
				t.Errorf("its row is %+v", row)
			}
		}
		if o := s.ended(id); o.ExitCode == nil || *o.ExitCode != 3 {
			t.Errorf("it ended as %+v", o)
		}
		// A job that has asked for more than one task, or was held, would not get here.
		script := s.run("scontrol", "show", "job", id)
		if !strings.Contains(script, "NumTasks=1 ") {
			t.Errorf("scontrol shows %s", script)
		}
		if nodes, err := s.Nodes(t.Context(), "ghost"); err != nil || nodes["down"] != 2 {
			t.Errorf("Nodes = %v, %v", nodes, err)
		}
	}
}

func TestNodes(t *testing.T) {
	everyKind(t, func(r *rig) {
		// The rig's one real node is in both.
		nodes, err := r.Nodes(r.t.Context(), "main,spare,ghost")
		sum := 0
		for _, n := range nodes {
			sum += n
		}
		if err != nil || nodes["down"] != 2 || sum != 3 {
			r.t.Errorf("Nodes = %v, %v", nodes, err)
		}
		if nodes, err := r.Nodes(r.t.Context(), "nowhere"); err == nil {
			r.t.Errorf("Nodes of a lane that is not there = %v", nodes)
		}
	})
}
