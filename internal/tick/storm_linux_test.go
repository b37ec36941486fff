package tick

import (
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// What an author's first leg does in these tests: launch a job, at once or when the
// test says so.
const (
	launchOne = "syscall-launch --name one --minutes 5 -- sh $DIR/job one\n"
	launchNow = "touch $DIR/waits; until [ -e $DIR/leg ]; do sleep 0.05; done\n" + launchOne
)

// TestDaemonsStopped takes the cluster's daemons away, one after the other, from a
// cluster that it has to itself.
func TestDaemonsStopped(t *testing.T) {
	t.Parallel()
	c := slurmtest.New(t, slurmtest.Options{Accounting: true})
	for _, test := range []struct {
		name string
		leg0 string
		do   func(w *weather)
	}{
		{"the controller while a leg runs", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.stop(slurmtest.Slurmctld)
			w.start(slurmtest.Slurmctld)
			w.write("leg", "")
			w.write("go", "")
		}},
		{"the controller while a run parks", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.stop(slurmtest.Slurmctld)
			w.write("leg", "")
			w.eventually("the launch was tried", func() bool { return w.record().LastError != "" })
			w.state(engine.Parking)
			w.start(slurmtest.Slurmctld)
			w.write("go", "")
		}},
		{"the controller while a wake is due", launchOne, func(w *weather) {
			w.await("log", "begin one")
			w.id("wake-1")
			w.stop(slurmtest.Slurmctld)
			w.write("go", "")
			w.awaitFile(w.file("eval-launch-one/exit-code"))
			w.start(slurmtest.Slurmctld)
		}},
		// It gives up on sbatch in the middle of a submission, and the controller
		// takes the job all the same.
		{"the controller frozen while a run parks", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.must(c.Freeze(slurmtest.Slurmctld))
			w.write("leg", "")
			w.eventually("the launch was tried", func() bool { return w.record().LastError != "" })
			w.must(c.Thaw(slurmtest.Slurmctld))
			w.write("go", "")
		}},
		// Who knows that it was sent in asks nobody but the controller.
		{"accounting from the park to the wake", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.stop(slurmtest.Slurmdbd)
			defer w.start(slurmtest.Slurmdbd)
			w.write("leg", "")
			w.write("go", "")
			w.await("legs", "1")
		}},
		{"munge while a run parks", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.stop(slurmtest.Munged)
			w.write("leg", "")
			w.eventually("the launch was tried", func() bool { return w.record().LastError != "" })
			w.start(slurmtest.Munged)
			w.write("go", "")
		}},
		{"munge while a wake is due", launchOne, func(w *weather) {
			w.await("log", "begin one")
			w.id("wake-1")
			w.stop(slurmtest.Munged)
			w.write("go", "")
			w.awaitFile(w.file("eval-launch-one/exit-code"))
			w.start(slurmtest.Munged)
		}},
		// Jobs wait for the node, and the run for its jobs.
		{"the node drained", launchNow, func(w *weather) {
			w.awaitFile("waits")
			w.must(c.Drain(w.t.Context()))
			w.write("leg", "")
			w.write("go", "")
			id := w.id("launch-one")
			w.state(engine.Parked)
			w.run("outerloop-tick") // a pass changes nothing
			if got := w.read("log"); got != "" || w.id("launch-one") != id {
				w.t.Errorf("with its node drained the launch is %s: %s", w.id("launch-one"), got)
			}
			w.must(c.Resume(w.t.Context()))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWeather(t, c)
			w.begin(test.leg0)
			test.do(w)
			w.clears()
			w.once("one")
			w.told("### one: exit 0")
		})
	}
}

func (w *weather) stop(d slurmtest.Daemon) {
	w.t.Helper()
	w.must(w.cluster.Stop(d))
}

func (w *weather) start(d slurmtest.Daemon) {
	w.t.Helper()
	w.must(w.cluster.Start(w.t.Context(), d))
}
