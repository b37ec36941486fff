package slurm

import "testing"

// Slurm counts the last run of a job that was requeued. To give back what the job has
// not taken of its walltime would give back what it took before, so its time is not
// known, by the controller's word and by the database's.
func TestRequeuedTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared.with.Get(t))
	wait := r.shell("echo run >> runs; until [ -e go ]; do sleep 0.05; done; exit 4")
	once, twice := r.submit(r.shell("exit 4")), r.submit(wait)
	r.eventually("it runs", func() bool { return r.exists("runs") })
	r.run("scontrol", "requeue", twice)
	r.eventually("it runs again", func() bool { return r.read("runs") == "run\nrun\n" })
	r.touch("go")
	for id, known := range map[string]bool{once: true, twice: false} {
		if o := r.ended(id); o.Elapsed.Known != known || o.ExitCode == nil || *o.ExitCode != 4 {
			t.Errorf("by the controller, job %s ended as %+v; its time is known: want %v", id, o, known)
		}
		r.inAccounting(id)
		got, err := r.sacct(t.Context(), []string{id})
		if o := got[id]; err != nil || o.Elapsed.Known != known || o.ExitCode == nil || *o.ExitCode != 4 {
			t.Errorf("by accounting, job %s ended as %+v, %v; its time is known: want %v", id, o, err, known)
		}
	}
}
