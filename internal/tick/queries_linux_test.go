package tick

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
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
	for i := range runs {
		// All four GPUs each, so that the jobs of all but one wait.
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
	w.eventually("a wake that is missing is no new one", func() bool { return w.age("-29") > 12*time.Second })
	pass("all wakes are lost", "squeue", "sacct")
}

// age is how long ago the wake of a run was sent in.
func (w *weather) age(run string) time.Duration {
	w.t.Helper()
	var rec engine.Record
	w.must(json.Unmarshal([]byte(w.read("root/runs/"+w.name+run+"/run.json")), &rec))
	return time.Since(rec.Wake.At)
}
