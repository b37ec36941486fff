package tick

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// TestQueries counts the real calls of Slurm's programs: a tick asks twice at most,
// however many runs are parked and whatever has become of their wakes.
func TestQueries(t *testing.T) {
	t.Parallel()
	const runs = 30
	c := slurmtest.New(t, slurmtest.Options{Accounting: true})
	w := newWeather(t, c)
	for _, name := range []string{"squeue", "sacct", "scontrol", "sinfo"} {
		w.standIn(name, "echo "+name+" >> $DIR/calls; exec /usr/bin/"+name+` "$@"`)
	}
	// The jobs of all but one wait for the four GPUs, in a lane where no leg has to
	// wait behind them.
	w.env = append(w.env, "OUTERLOOP_PARTITION=main", "OUTERLOOP_GPU_PARTITION=spare")
	for i := range runs {
		w.new(fmt.Sprintf("%s-%d", w.name, i), launchOne, "--gpus", "4")
	}
	w.run("outerloop-tick")
	w.eventually("all are parked", func() bool {
		records := w.run("sh", "-c", "cat root/runs/*/run.json")
		return strings.Count(records, `"state": "parked"`) == runs
	})
	pass := func(what string, want ...string) {
		t.Helper()
		w.must(os.RemoveAll(w.path("root/shared"))) // an answer that others may still have use for
		w.write("calls", "")
		w.run("outerloop-tick")
		if calls := strings.Fields(w.read("calls")); !slices.Equal(calls, want) {
			t.Errorf("%s: a tick made the calls %q, and not %q", what, calls, want)
		}
	}
	pass("all are parked", "squeue")

	// Nobody knows what has become of the wakes: they are cancelled, before they ever
	// had a chance to start, and the controller has lost its memory.
	w.slurm("scancel", "--user=root", "--state=PENDING")
	w.slurm("scancel", "--user=root")
	w.eventually("the queue is empty", func() bool { return w.slurm("squeue", "--noheader") == "" })
	w.must(c.LoseMemory(t.Context()))
	w.eventually("no wake is a new one", func() bool {
		for i := range runs {
			if w.age(fmt.Sprintf("-%d", i)) < 12*time.Second {
				return false
			}
		}
		return true
	})
	pass("all wakes are lost", "squeue", "sacct")
}

// age is how long ago the wake of a run was sent in.
func (w *weather) age(run string) time.Duration {
	w.t.Helper()
	var rec engine.Record
	w.must(json.Unmarshal([]byte(w.read("root/runs/"+w.name+run+"/run.json")), &rec))
	return time.Since(rec.Wake.At)
}

// TestSessionsShare counts the calls that the sessions of a state root cause which
// ask all the time, each served by a process of its own, as on machines apart.
func TestSessionsShare(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	for _, name := range []string{"squeue", "sinfo"} {
		w.standIn(name, "echo "+name+" $(date +%s%N) >> $DIR/calls; exec /usr/bin/"+name+` "$@"`)
	}
	w.env = append(w.env, "OUTERLOOP_PARTITION=main") // nodes are those of a lane
	runs := []string{w.name + "-0", w.name + "-1"}
	for _, run := range runs {
		w.new(run, `until [ -e $DIR/enough ]; do syscall-queue >queue.out; echo $PWD >> $DIR/asked; sleep 0.1; done`)
	}
	w.run("outerloop-tick")
	w.eventually("all ask, and the scheduler was asked four times", func() bool {
		w.run("outerloop-tick", "status")
		asked := strings.Fields(w.read("asked"))
		slices.Sort(asked)
		return len(slices.Compact(asked)) == len(runs) && strings.Count(w.read("calls"), "squeue") >= 4
	})
	w.write("enough", "")
	asked, calls := strings.Count(w.read("asked"), "\n"), strings.Count(w.read("calls"), "\n")
	t.Logf("%d questions of sessions made %d calls", asked, calls)
	w.apart("squeue", 5*time.Second)
	w.apart("sinfo", time.Minute)
}

// apart says that there were calls, and that the next one never came before the gap
// was over. The clock of a filesystem may lag behind by a tick of the machine's.
func (w *weather) apart(name string, gap time.Duration) {
	w.t.Helper()
	var last int64
	for line := range strings.Lines(w.read("calls")) {
		call, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if call != name {
			continue
		}
		now, err := strconv.ParseInt(at, 10, 64)
		w.must(err)
		if d := time.Duration(now - last); d < gap-50*time.Millisecond {
			w.t.Errorf("%s was called again after %s", name, d)
		}
		last = now
	}
	if last == 0 {
		w.t.Errorf("%s was never called", name)
	}
}
