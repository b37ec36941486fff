package tick

import (
	"math"
	"strings"
	"testing"
)

// TestRequeueRefundsNothing: Slurm counts the last run of a job alone, so what the job
// took in all is not known, and the budget keeps the whole charge.
func TestRequeueRefundsNothing(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	w.begin("syscall-launch --name one --minutes 30 -- sh $DIR/job one\n", "--gpus", "1", "--gpu-hours", "2")
	w.await("log", "begin one")
	w.requeue(w.id("launch-one"), func() bool { return strings.Count(w.read("log"), "begin one") == 2 })
	w.write("go", "")
	w.clears()
	w.ran("begin one", "begin one", "end one")
	w.told("### one: exit 0\n")
	if left := w.record().Budget.GPUHours; left == nil || math.Abs(*left-1.5) > 1e-9 {
		t.Errorf("of 2 GPU hours 0.5 were charged, and now %v are left", left)
	}
}

// requeue queues a job again that runs, and waits until it does so once more.
func (w *weather) requeue(id string, again func() bool) {
	w.t.Helper()
	w.slurm("scontrol", "requeue", id)
	w.eventually("job "+id+" runs again", again)
}
