//go:build linux

package local

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

func grace(d time.Duration) func(*Options) { return func(o *Options) { o.Grace = d } }

func TestWalltime(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		prints       string
	}{
		{"a command that obeys", ": >ready; exec sleep 600", patience, ""},
		{"a command that returns 0", `trap 'echo bye; exit 0' TERM; : >ready; while :; do sleep 0.02; done`, patience, "bye"},
		// The shell waits for sleep, and goes on when that is dead.
		{"a command that ignores TERM", `trap '' TERM; echo on; : >ready; while :; do sleep 600; done`, time.Millisecond, "on"},
		{"grandchildren that ignore TERM", `(trap '' TERM; : >ready; while :; do sleep 600; done) & exec sleep 600`, time.Millisecond, ""},
		{"a daemon in a session of its own", `setsid sh -c 'trap "" TERM; : >ready; while :; do sleep 600; done' & exec sleep 600`, time.Millisecond, ""},
		// The shell dies first; what it called still has the grace to itself.
		{"a program that saves its work", `sh -c 'trap "sleep 0.1; echo saved; exit" TERM; : >ready; while :; do sleep 0.02; done'; exit 1`, patience, "saved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, grace(tt.grace))
			var out slurm.Outcome
			// On a machine that is slow today the time may be up before the
			// script has set its traps. Then it gets more of it.
			for r.minute = 250 * time.Millisecond; !r.has("ready") && r.minute < patience; r.minute *= 2 {
				os.Remove(filepath.Join(r.work, "out"))
				out = r.wait(r.submit(tt.script, func(s *slurm.JobSpec) { s.Minutes = 1 }), slurm.Timeout)
			}
			if out.ExitCode != nil {
				t.Errorf("exit code is %d, want none", *out.ExitCode)
			}
			if !out.Elapsed.Known || out.Elapsed.Duration < 250*time.Millisecond {
				t.Errorf("elapsed is %+v, want at least the walltime", out.Elapsed)
			}
			// The shell has a word for its own children that were terminated.
			if got := strings.TrimSpace(r.read("out")); !strings.HasSuffix(got, tt.prints) {
				t.Errorf("it printed %q, want %q at the end", got, tt.prints)
			}
			r.wantNothingLeft()
		})
	}
}

// wantNothingLeft fails if a process still works in the directory of the jobs.
func (r *rig) wantNothingLeft() {
	r.t.Helper()
	if left := r.processes(); len(left) > 0 {
		r.t.Errorf("processes %v of the task are left", left)
	}
}

func TestStragglersEndWithTheCommand(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"in its group", `sleep 600 & echo $! >straggler`},
		{"that ignore TERM", `sh -c 'trap "" TERM; echo $$ >straggler; while :; do sleep 600; done' & ` + until("straggler")},
		{"in a session of their own", `setsid sh -c 'echo $$ >straggler; exec sleep 600' & ` + until("straggler")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.wait(r.submit(tt.script), slurm.Completed)
			r.wantNothingLeft()
		})
	}
}

func TestCancel(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CPUs = 1 })
	obeys := r.submit(": >started; exec sleep 600")
	waits := r.submit("exit 0")
	depends := r.submit("exit 0", after(waits), cpus(0), func(s *slurm.JobSpec) { s.Command = []string{"touch", "depends"} })
	r.waitFile("started")
	// Pending: at once, and what depends on it may go.
	if err := r.Cancel(t.Context(), waits, "77", "no id", obeys+"_0"); err != nil {
		t.Fatal(err)
	}
	if got := r.look(waits); got.State != slurm.Cancelled || got.ExitCode != nil || got.Elapsed.Known {
		t.Errorf("a canceled job that never ran: %+v", got)
	}
	r.wait(depends, slurm.Completed)
	if got := r.look(obeys).State; got != slurm.Running {
		t.Errorf("the other job is %s", got)
	}
	if err := r.Cancel(t.Context(), obeys); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(obeys, slurm.Cancelled); out.ExitCode != nil || !out.Elapsed.Known {
		t.Errorf("a canceled job that ran: %+v", out)
	}
	// Ended: nothing changes.
	if err := r.Cancel(t.Context(), depends); err != nil {
		t.Fatal(err)
	}
	r.wait(depends, slurm.Completed)
	r.wantNothingLeft()
}

func TestCancelOfACommandThatIgnoresIt(t *testing.T) {
	r := newRig(t, grace(time.Millisecond))
	id := r.submit(`trap '' TERM; : >started; while :; do sleep 600; done`)
	r.waitFile("started")
	if err := r.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.wait(id, slurm.Cancelled)
	r.wantNothingLeft()
}

func TestCanceledJobIsCompletingInItsGrace(t *testing.T) {
	r := newRig(t)
	id := r.submit(`trap ': >termed' TERM; : >started; ` + until("go") + "exit 0")
	r.waitFile("started")
	if err := r.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.waitFile("termed")
	r.wantQueue(map[string]string{id: "COMPLETING None"})
	r.mark("go")
	r.wait(id, slurm.Cancelled)
}

func TestCancelOfAnArray(t *testing.T) {
	r := newRig(t)
	script := "[ $SWEEP_INDEX = 0 ] && exit 0; : >started.$SWEEP_INDEX; exec sleep 600"
	id := r.submit(script, func(s *slurm.JobSpec) { s.Array = 5 })
	r.wait(id+"_0", slurm.Completed)
	r.waitFile("started.1")
	r.waitFile("started.2")
	// One task, one that waits and one that runs.
	if err := r.Cancel(t.Context(), id+"_1", id+"_4"); err != nil {
		t.Fatal(err)
	}
	r.wait(id+"_1", slurm.Cancelled)
	r.waitFile("started.3")
	if err := r.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"_2", "_3", "_4"} {
		r.wait(id+task, slurm.Cancelled)
	}
	r.wait(id, slurm.Cancelled)
	r.wait(id+"_0", slurm.Completed)
	if r.has("started.4") {
		t.Error("the canceled task ran")
	}
}

// A machine that shuts down sends TERM to everybody.
func TestShepherdIsTerminated(t *testing.T) {
	r := newRig(t)
	id := r.submit(": >started; exec sleep 600")
	r.waitFile("started")
	if err := r.owner(id, 0).signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wait(id, slurm.NodeFail)
	r.wantNothingLeft()
}
