package tick

import (
	"fmt"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// TestQueries counts the real calls of Slurm's programs: a tick asks twice at most,
// however many runs are parked, and whatever has become of their wakes.
func TestQueries(t *testing.T) {
	t.Parallel()
	const runs = 30
	// A controller that forgets, so that accounting has to be asked as well.
	w := newWeather(t, slurmtest.New(t, slurmtest.Options{Accounting: true, MinJobAge: 2}))
	for _, name := range []string{"squeue", "sacct", "scontrol", "sinfo"} {
		w.standIn(name, "echo "+name+" >> $DIR/calls; exec /usr/bin/"+name+` "$@"`)
	}
	names := make([]string, runs)
	for i := range names {
		names[i] = fmt.Sprintf("%s%02d", w.name, i)
		// All four GPUs each, so that the jobs of all but one wait.
		w.new(names[i], launchOne, "--gpus", "4")
	}
	w.run("outerloop-tick")
	w.eventually("all are parked", func() bool {
		for _, name := range names {
			w.name = name
			if w.record().State != engine.Parked {
				return false
			}
		}
		return true
	})
	pass := func(what string) {
		t.Helper()
		w.aged("root/shared/queue.json")
		w.write("calls", "")
		out := w.run("outerloop-tick")
		calls := strings.Fields(w.read("calls"))
		t.Logf("%s: %q", what, calls)
		if len(calls) > 2 || !strings.Contains(out, "30 runs, 30 not ended") {
			t.Errorf("%s: a tick made the calls %q and said %q", what, calls, out)
		}
	}
	pass("all are parked")
}
