package slurm

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// quick is a time limit that a real program keeps and one that hangs does not. A
// program that is merely slow, on a busy machine, is in doubt as one that hangs is,
// which these tests take as well.
const quick = 4 * time.Second

// Whatever becomes of sbatch's answer, the job is in the queue once, and is found.
func TestLostSubmission(t *testing.T) {
	everyKind(t, func(r *rig) {
		for _, what := range []fault{late, silent, failing, cut, banner} {
			f := r.faulty(quick)
			f.set("sbatch", what)
			spec := r.shell("echo ran >> runs-" + string(what))
			spec.Name = "lost-" + string(what)
			id, err := f.Submit(r.t.Context(), spec)
			if _, refused := errors.AsType[*RefusedError](err); refused || err != nil && what == banner {
				r.t.Fatalf("%s: %v", what, err)
			}
			r.t.Logf("%s: %q, %v", what, id, err)
			found, err := f.Find(r.t.Context(), spec.Token)
			if err != nil || found == "" || id != "" && id != found {
				r.t.Errorf("%s: Find = %q, %v; Submit had said %q", what, found, err, id)
				continue
			}
			r.ended(found)
			if got := r.read("runs-" + string(what)); got != "ran\n" {
				r.t.Errorf("%s: it ran as %q", what, got)
			}
			if n := f.calls("sbatch"); n != 1 {
				r.t.Errorf("%s: sbatch was called %d times", what, n)
			}
		}
	})
}

// An sbatch that hangs is killed with its children, and leaves the job in doubt.
func TestHangingSubmission(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared.without.Get(t))
	f := r.faulty(quick / 4)
	f.set("sbatch", hanging)
	start := time.Now()
	spec := r.shell("touch ran")
	id, err := f.Submit(t.Context(), spec)
	if _, refused := errors.AsType[*RefusedError](err); refused || err == nil || !strings.Contains(err.Error(), "no answer within its time") {
		t.Errorf("Submit = %q, %v", id, err)
	}
	// Its child, which holds the streams, would have taken an hour.
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if found, err := r.Find(t.Context(), spec.Token); found != "" || err != nil {
		t.Errorf("Find = %q, %v", found, err)
	}
}

// A query that failed, in whatever way, is an error and not an answer.
func TestFailedQueries(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared.with.Get(t))
	spec := r.shell("true")
	spec.Begin = time.Now().Add(time.Hour)
	id := r.submit(spec)
	for _, what := range []fault{cut, hanging, flood} {
		f := r.faulty(quick)
		f.set("squeue", what)
		if what == flood {
			f.opt.Timeout = time.Minute
		}
		if rows, err := f.Queue(t.Context()); err == nil {
			t.Errorf("%s: Queue = %+v", what, rows)
		}
		if what == cut {
			if got, err := f.Outcomes(t.Context(), []string{id}); err == nil {
				t.Errorf("%s: Outcomes = %+v", what, got)
			}
			if got, err := f.Find(t.Context(), spec.Token); err == nil {
				t.Errorf("%s: Find = %q", what, got)
			}
		}
	}
	f := r.faulty(time.Minute)
	f.set("squeue", banner)
	if rows, err := f.Queue(t.Context()); err != nil || len(rows) == 0 || !isID(rows[0].ID) {
		t.Errorf("banner: Queue = %+v, %v", rows, err)
	}
	f.set("sinfo", banner)
	if nodes, err := f.Nodes(t.Context(), "ghost"); err != nil || nodes["down"] != 2 || len(nodes) != 1 {
		t.Errorf("banner: Nodes = %v, %v", nodes, err)
	}
	f.set("scancel", hanging)
	f.opt.Timeout = quick / 4
	if err := f.Cancel(t.Context(), id); err == nil {
		t.Error("Cancel was not carried out and says nothing")
	}
}

func TestNotInstalled(t *testing.T) {
	c := New(Options{Path: t.TempDir() + ":relative"})
	if c.Installed() {
		t.Error("Installed without an sbatch")
	}
	if _, err := c.Queue(t.Context()); err == nil || !strings.Contains(err.Error(), "squeue") {
		t.Errorf("Queue: %v", err)
	}
	spec := JobSpec{Name: "j", Command: []string{"true"}, Minutes: 1, Token: "t"}
	_, err := c.Submit(t.Context(), spec)
	if _, refused := errors.AsType[*RefusedError](err); refused || err == nil {
		t.Errorf("Submit: %v", err)
	}
}
