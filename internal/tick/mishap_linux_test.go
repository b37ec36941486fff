package tick

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// TestJobMishaps lets everything that can befall a job befall the jobs of one sleep.
func TestJobMishaps(t *testing.T) {
	t.Parallel()
	w := newWeather(t, cluster.Get(t))
	w.write("big", "echo begin big >> $DIR/log; (head -c 400M /dev/zero; sleep 600) | tail\n")
	w.begin(`
		syscall-launch --name fine --minutes 5 -- sh $DIR/job fine
		syscall-launch --name gone --minutes 5 -- sh $DIR/job gone
		syscall-launch --name sweep --minutes 5 --array 3 -- sh -c 'sh $DIR/job sweep.$SWEEP_INDEX'
		syscall-launch --name long --minutes 1 -- sh $DIR/job long
		syscall-launch --name big --minutes 5 -- sh $DIR/big
		syscall-launch --name shot --minutes 5 -- sh -c 'echo $$ > $DIR/shot; exec sh $DIR/job shot'
		syscall-launch --name again --minutes 5 -- sh $DIR/job again
	`, "--memory", "200")
	for _, job := range []string{"fine", "gone", "sweep.0", "sweep.1", "sweep.2", "long", "big", "shot", "again"} {
		w.await("log", "begin "+job)
	}
	w.slurm("scancel", w.id("launch-gone"))
	w.slurm("scancel", w.id("launch-sweep")+"_1")
	// By hand, for scancel --signal=KILL makes it a job that was cancelled or one that has
	// failed, as it happens.
	// Both, since without a sandbox nothing ends with the runner. It goes first, or it
	// would tell of the command's end.
	w.must(syscall.Kill(w.runner("shot"), syscall.SIGKILL))
	w.must(syscall.Kill(w.pid("shot"), syscall.SIGKILL))
	// A minute is the least that Slurm has for a limit.
	w.slurm("scontrol", "update", "jobid="+w.id("launch-long"), "endtime=now")
	w.requeue(w.id("launch-again"), func() bool { return strings.Count(w.read("log"), "begin again") == 2 })
	w.eventually("the others are over", func() bool { return len(w.ids("launch-long")) == 0 })
	w.write("go", "")
	w.clears()
	w.ran("begin fine", "end fine", "begin gone", "begin sweep.0", "begin sweep.1", "begin sweep.2", "end sweep.0", "end sweep.2",
		"begin long", "begin big", "begin shot", "begin again", "begin again", "end again")
	w.told("7 launches with 9 jobs: 4 succeeded, 5 did not.",
		"### fine: exit 0\n", "### again: exit 0\n", "### sweep.0: exit 0\n", "### sweep.2: exit 0\n",
		"### gone: no exit code; the scheduler says CANCELLED\n",
		"### sweep.1: no exit code; the scheduler says CANCELLED\n",
		"### long: no exit code; the scheduler says TIMEOUT\n",
		"### big: no exit code; the scheduler says FAILED\n", // OUT_OF_MEMORY takes cgroups
		"### shot: no exit code; the scheduler says FAILED\n")
}

// pid is the process whose id is in the file.
func (w *weather) pid(file string) int {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.read(file)))
	w.must(err)
	return pid
}

// runner is the process outerloop-tick job above the one whose id is in the file.
func (w *weather) runner(file string) int {
	w.t.Helper()
	for pid := w.pid(file); pid > 1; {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		w.must(err)
		if strings.Contains(string(args), "\x00job\x00") {
			return pid
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		w.must(err)
		_, after, _ := strings.Cut(string(status), "\nPPid:")
		_, err = fmt.Sscan(after, &pid)
		w.must(err)
	}
	w.t.Fatalf("no runner is above %s", file)
	return 0
}

// TestLegBeginsAnew: whoever cancels a leg, or has its job queued again as Slurm does
// where a node fails, ends neither the run nor what the author has committed.
func TestLegBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"cancelled": {"scancel"}, "requeued": {"scontrol", "requeue"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeather(t, cluster.Get(t))
			w.begin(launchNow)
			w.awaitFile("waits")
			w.slurm(append(command, w.id("leg-0"))...)
			w.eventually("the leg begins anew", func() bool { return strings.Count(w.read("legs"), "0\n") == 2 })
			w.write("leg", "")
			w.write("go", "")
			w.clears()
			w.once("one")
			w.told("### one: exit 0\n")
		})
	}
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
