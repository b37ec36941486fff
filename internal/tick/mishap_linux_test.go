package tick

import (
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// TestLegCancelled: whoever cancels a leg ends neither the run nor what the author
// has committed.
func TestLegCancelled(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	w.begin(launchNow)
	w.awaitFile("waits")
	w.slurm("scancel", w.id("leg-0"))
	w.eventually("the leg begins anew", func() bool { return strings.Count(w.read("legs"), "0\n") == 2 })
	w.write("leg", "")
	w.write("go", "")
	w.clears()
	w.once("one")
	w.told("### one: exit 0\n")
}

// TestWakeCancelled: the tick sends another one.
func TestWakeCancelled(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	w.begin(launchOne)
	w.await("log", "begin one")
	w.state(engine.Parked)
	wake := w.id("wake-1")
	w.slurm("scancel", wake)
	w.eventually("there is another wake", func() bool {
		ids := w.ids("wake-1")
		return len(ids) == 1 && ids[0] != wake
	})
	w.write("go", "")
	w.clears()
	w.once("one")
	w.told("### one: exit 0\n")
}

// TestLaunchRefused: Slurm's own words reach the author, and cost it nothing.
func TestLaunchRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ setting, words string }{
		"account":   {"OUTERLOOP_GPU_ACCOUNT=nobody", "Invalid account or account/partition combination specified"},
		"partition": {"OUTERLOOP_GPU_PARTITION=nowhere", "invalid partition specified: nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeather(t, cluster.Get(t))
			w.env = append(w.env, test.setting)
			w.begin(launchOne, "--gpus", "1", "--launches", "3")
			w.clears()
			w.ran()
			w.told("The scheduler refused it, and it is not charged: ", test.words, "\n3 launches and ")
		})
	}
}

// TestLegRefused: where no author can be started, Slurm's words reach the operator.
func TestLegRefused(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	w.begin(launchOne, "--account", "nobody")
	w.ends(engine.Stuck)
	for _, said := range []string{w.record().Reason, w.run("outerloop-tick", "status")} {
		if !strings.Contains(said, "Invalid account or account/partition combination specified") {
			t.Errorf("the operator is told %q", said)
		}
	}
}

// TestAnswerLost loses every first answer of sbatch, in each way that it can get
// lost, after the controller has taken the job.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"silence":      "exit 0",
		"failure":      "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1",
		"killed":       "kill -9 $$",
		"killed asker": "case $name in *-launch-one) kill -9 $PPID ;; esac; exit 1", // the leg
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeather(t, cluster.Get(t))
			// What is sent in, under what name: each has its answer lost once.
			w.standIn("sbatch", `
				for arg; do case $arg in --job-name=*) name=${arg#*=} ;; esac; done
				echo $name >> $DIR/sent
				[ "$(grep -cx $name $DIR/sent)" = 1 ] || exec /usr/bin/sbatch "$@"
				/usr/bin/sbatch "$@" > /dev/null
				`+fault)
			w.begin(launchOne)
			w.write("go", "")
			w.clears()
			w.once("one")
			w.told("### one: exit 0\n")
			if sent := w.read("sent"); strings.Count(sent, "\n") != 3 {
				t.Errorf("sent in were %q", sent)
			}
		})
	}
}

// standIn puts a program in the place of one of Slurm's, for the loop, the legs and
// the jobs of this weather. It is called as that one, and may call it.
func (w *weather) standIn(name, script string) {
	w.t.Helper()
	w.must(w.mkdir("bin"))
	w.write("bin/"+name, "#!/bin/sh\n"+script+"\n")
	for i, kv := range w.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok && !strings.HasPrefix(path, w.path("bin")+":") {
			w.env[i] = "PATH=" + w.path("bin") + ":" + path
		}
	}
}
