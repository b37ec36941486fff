package tick

import (
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/slurmtest"
)

// TestDaemonsStopped takes the cluster's daemons away, one after the other, from a
// cluster that it has to itself.
func TestDaemonsStopped(t *testing.T) {
	t.Parallel()
	c := slurmtest.New(t, slurmtest.Options{Accounting: true})
	stop := func(w *weather, d slurmtest.Daemon) { w.must(c.Stop(d)) }
	start := func(w *weather, d slurmtest.Daemon) { w.must(c.Start(w.t.Context(), d)) }
	const one = "syscall-launch --name one --minutes 5 -- job one\n"
	const waits = "touch $DIR/waits; until [ -e $DIR/leg ]; do sleep 0.05; done\n"
	for _, test := range []struct {
		name string
		leg0 string
		do   func(w *weather)
	}{
		// The author is left alone: it is not even told, unless it asks.
		{"the controller while a leg runs", waits + one, func(w *weather) {
			w.await("legs", "0")
			w.eventually("it waits", func() bool { return w.exists("waits") })
			stop(w, slurmtest.Slurmctld)
			start(w, slurmtest.Slurmctld)
			w.write("leg", "")
			w.write("go", "")
		}},
		{"the controller while a run parks", waits + one, func(w *weather) {
			w.eventually("it waits", func() bool { return w.exists("waits") })
			stop(w, slurmtest.Slurmctld)
			w.write("leg", "")
			w.eventually("the launch was tried", func() bool { return w.record(theRun).LastError != "" })
			w.state(engine.Parking)
			start(w, slurmtest.Slurmctld)
			w.write("go", "")
		}},
		{"the controller while a wake is due", one, func(w *weather) {
			w.await("log", "begin one")
			w.id("wake-1")
			stop(w, slurmtest.Slurmctld)
			w.write("go", "")
			w.eventually("the job has ended", func() bool { return w.exists("root/runs/w/eval-launch-one/exit-code") })
			start(w, slurmtest.Slurmctld)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWeather(t, c)
			w.start(test.leg0)
			test.do(w)
			w.clears()
			w.once("one")
			w.told("### one: exit 0")
		})
	}
}
