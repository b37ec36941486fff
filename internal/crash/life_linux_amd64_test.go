package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/ledger"
)

// life is one run from its making to its end, on this machine alone: a leg that asks a
// question and launches two jobs, one of them a sweep, and a leg that submits.
type life struct {
	t   testing.TB
	dir string
}

// The author counts its beginnings, as does a job, in files that nobody rewrites.
const author = `set -eu
echo $OUTERLOOP_LEG >> $DIR/legs
cat > $DIR/prompt.$OUTERLOOP_LEG
echo words of leg $OUTERLOOP_LEG > notes.txt
if [ $OUTERLOOP_LEG = 0 ]; then
	syscall-queue > /dev/null || :
	syscall-launch --name one --minutes 5 --artifact out.txt -- sh $DIR/job one
	syscall-launch --name two --minutes 5 --array 2 --artifact out.txt -- sh -c 'sh $DIR/job two.$SWEEP_INDEX'
else
	cat .outerloop/results/one/out.txt > $DIR/result || :
	echo Done. > report.md
	syscall-submit --report report.md
fi
syscall-sleep
`

const job = `echo "begin $1" >> $DIR/log
seq 20000 > out.txt
echo "end $1" >> $DIR/log
`

// jobs are the names of all jobs.
var jobs = [...]string{"one", "two.0", "two.1"}

// budget is what a run gets of launches and of sleeps.
const budget = 5

func newLife(t testing.TB) *life {
	l := &life{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"author": author, "job": job} {
		l.must(os.WriteFile(l.path(name), []byte(strings.ReplaceAll(text, "$DIR", l.dir)), 0o600))
	}
	return l
}

func (l *life) path(name string) string { return filepath.Join(l.dir, name) }

func (l *life) root(name string) string { return l.path(filepath.Join("root", name)) }

func (l *life) run(name string) string { return l.root(filepath.Join("runs/r", name)) }

func (l *life) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// read returns a file's text, "" while there is none.
func (l *life) read(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		l.t.Error(err)
	}
	return string(raw)
}

// live runs the whole life under a supervisor, to the pass that finds nothing to do.
func (l *life) live(a aim) report {
	l.t.Helper()
	p := plan{
		Root: l.path("root"),
		Log:  l.path("said"),
		Aim:  a,
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir,
			"OUTERLOOP_ROOT=" + l.path("root"), "OUTERLOOP_COMPUTE=local",
		},
		Commands: [][]string{
			l.command("outerloop-tick", "new", "--run", "r", "--prompt", l.path("author"), "--sandbox", "none",
				"--launches", fmt.Sprint(budget), "--sleeps", fmt.Sprint(budget), "--", "sh", l.path("author")),
			l.command("outerloop-tick", "--loop", "--until-idle"),
			l.command("outerloop-tick"),
			l.command("outerloop-tick"),
		},
		Patience: 5 * time.Minute,
	}
	return l.supervise(p)
}

// command names a program by its path, which is how a filter calls it.
func (l *life) command(args ...string) []string {
	l.t.Helper()
	path, err := exec.LookPath(args[0])
	l.must(err)
	return append([]string{path}, args[1:]...)
}

func (l *life) supervise(p plan) report {
	l.t.Helper()
	in, err := json.Marshal(p)
	l.must(err)
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Duration(len(p.Commands)+1)*p.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, superviseName)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = l.t.Output()
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("the supervisor: %v", err)
	}
	var r report
	l.must(json.Unmarshal(out, &r))
	return r
}

// tell logs what is known of a life that went wrong.
func (l *life) tell() {
	if l.t.Failed() {
		l.t.Logf("the loop said:\n%s\nthe legs said:\n%s\nthe jobs said:\n%s\nthe record is:\n%s\nthe jobs' log is:\n%s",
			l.read(l.path("said")), l.read(l.run("kernel.log")), l.read(l.run("jobs.log")), l.read(l.run("run.json")), l.read(l.path("log")))
	}
}

// check says what has to be true after a life in which one of these actors was struck,
// "" for none.
func (l *life) check(struck string, r report) {
	l.t.Helper()
	defer l.tell()
	if r.Error != "" || len(r.Left) > 0 {
		l.t.Errorf("the life: %s; processes left: %q", r.Error, r.Left)
	}
	for _, failed := range r.Failed {
		if struck == "new" && strings.Contains(failed, "new --run r") {
			continue // it was made already
		}
		l.t.Errorf("failed: %s", failed)
	}
	l.record()
	l.legs(struck)
	l.ledger()
	for _, job := range jobs {
		l.job(job, struck == "job" || struck == "shepherd")
	}
	l.clean()
}

// record says how the run ended, and that it was charged once.
func (l *life) record() {
	l.t.Helper()
	var rec engine.Record
	l.must(json.Unmarshal([]byte(l.read(l.run("run.json"))), &rec))
	if rec.Outcome != engine.Submitted {
		l.t.Errorf("the run is %s %s: %s", rec.State, rec.Outcome, rec.Reason)
	}
	if rec.Budget.Launches != budget-2 || rec.Budget.Sleeps != budget-2 || rec.Sleeps != 2 {
		l.t.Errorf("after 2 launches and 2 sleeps the run has %d and %d of %d left, and counts %d sleeps",
			rec.Budget.Launches, rec.Budget.Sleeps, budget, rec.Sleeps)
	}
	if got := l.read(l.run("report.md")); got != "Done.\n\n" && got != "Done.\n" {
		l.t.Errorf("the report is %q", got)
	}
}

// legs says that the author came to each leg, and never again to one that it had ended.
// An author whose leg was struck begins it anew.
func (l *life) legs(struck string) {
	l.t.Helper()
	got := l.read(l.path("legs"))
	zeros, ones := strings.Count(got, "0\n"), strings.Count(got, "1\n")
	again := zeros + ones - 2
	if got != strings.Repeat("0\n", zeros)+strings.Repeat("1\n", ones) || zeros == 0 || ones == 0 ||
		again > 1 || again == 1 && struck != "leg" && struck != "shepherd" {
		l.t.Errorf("the author's legs were %q", got)
	}
}

// ledger says that every launch has one record of its submission, and every job one of
// its end, in as many lines.
func (l *life) ledger() {
	l.t.Helper()
	log, err := ledger.History(l.run("launches.jsonl"))
	l.must(err)
	if len(log.Launches) != 2 || len(log.Stray) > 0 || log.Lost > 0 {
		l.t.Errorf("the ledger: %+v", log)
	}
	for _, launch := range log.Launches {
		if len(launch.Jobs) != launch.Array {
			l.t.Errorf("launch %s of %d has %d ends", launch.Name, launch.Array, len(launch.Jobs))
		}
	}
	if got := strings.Count(l.read(l.run("launches.jsonl")), "\n"); got != 2+len(jobs) {
		l.t.Errorf("the ledger has %d lines", got)
	}
}

// job says that a job ran once and that the author got its result once, or, where it
// may have died, that it is not told to have ended.
func (l *life) job(name string, mayDie bool) {
	l.t.Helper()
	log := l.read(l.path("log"))
	begun, ended := strings.Count(log, "begin "+name+"\n"), strings.Count(log, "end "+name+"\n")
	code := strings.TrimSpace(l.read(l.run("eval-launch-" + name + "/exit-code")))
	told := strings.Count(l.read(l.path("prompt.1")), "### "+name+": ")
	success := strings.Count(l.read(l.path("prompt.1")), "### "+name+": exit 0\n")
	artifact := l.read(l.root("workspaces/r/.outerloop/results/" + strings.Replace(name, ".", "/", 1) + "/out.txt"))
	whole := artifact == seq()
	switch {
	case begun > 1 || ended > 1 || told != 1:
		l.t.Errorf("job %s: began %d times, ended %d times, and was told of %d times", name, begun, ended, told)
	case code == "0" && (begun != 1 || ended != 1 || success != 1 || !whole):
		l.t.Errorf("job %s succeeded: began %d times, ended %d times, success was told %d times, artifact whole: %t",
			name, begun, ended, success, whole)
	case code != "0" && (!mayDie || code != "" || success != 0 || artifact != "" && !whole):
		l.t.Errorf("job %s has exit code %q; success was told %d times; %d bytes of artifact", name, code, success, len(artifact))
	}
}

// seq is what a job makes.
func seq() string {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

// clean says that nothing half-made is left, no scratch, and no lock that is held.
func (l *life) clean() {
	l.t.Helper()
	l.must(filepath.WalkDir(l.path("root"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, name := strings.TrimPrefix(path, l.path("root")+"/"), d.Name()
		switch {
		case strings.HasPrefix(rel, "scratch/"),
			strings.HasPrefix(name, ".") && name != channel.DirName && name != ".watch" && name != ".lock",
			strings.HasPrefix(name, "tmp_"),
			strings.HasSuffix(name, ".lock") && strings.Contains(rel, ".git/") && name != "outerloop.lock",
			rel == "local/new":
			l.t.Errorf("left: %s", rel)
		case name == "lock" && d.Type().IsRegular() || strings.HasSuffix(name, ".lock"):
			l.free(path)
		}
		return nil
	}))
}

// free says that a lock can be had.
func (l *life) free(path string) {
	l.t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	l.must(err)
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		l.t.Errorf("the lock %s: %v", path, err)
	}
}
