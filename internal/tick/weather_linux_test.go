package tick

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/slurmtest"
	"github.com/outerloop-go/outerloop/ledger"
)

// weather is one run on a real cluster, and the loop that moves it. The test
// decides when its jobs and its author go on, and does to the cluster meanwhile
// whatever it likes. In the end [weather.clears] says what has to be true whatever
// that was.
type weather struct {
	t       testing.TB
	cluster *slurmtest.Cluster
	dir     string
	name    string // of the run; others share the cluster
	env     []string
	loop    *exec.Cmd
	said    bytes.Buffer // by the loop; to be read when it has ended
}

// The author does in its first leg what the test wants, and submits in the second.
// One that was ended from outside begins again, so it counts its beginnings.
const author = `set -eu
echo $OUTERLOOP_LEG >> $DIR/legs
cat > $DIR/prompt.$OUTERLOOP_LEG
if [ $OUTERLOOP_LEG = 0 ]; then
	. $DIR/leg0
else
	echo Done. > report.md
	syscall-submit --report report.md
fi
syscall-sleep
`

// A job says when it begins and when it ends, outside of its sandbox: that is how
// often it really ran.
const job = `echo "begin $1" >> $DIR/log
until [ -e $DIR/go ]; do sleep 0.05; done
echo "end $1" >> $DIR/log
`

func newWeather(t testing.TB, c *slurmtest.Cluster) *weather {
	t.Helper()
	w := &weather{t: t, cluster: c, dir: t.TempDir(), name: strings.ToLower(rand.Text()[:8])}
	w.env = append(c.Env(), "PATH="+os.Getenv("PATH"), "HOME="+w.dir,
		"OUTERLOOP_ROOT="+w.path("root"), "OUTERLOOP_ACCOUNT="+slurmtest.Account)
	w.write("author", author)
	w.write("job", job)
	t.Cleanup(w.end)
	return w
}

// begin makes the run and begins to move it. The script is the author's first leg;
// in it, $DIR is the test's directory.
func (w *weather) begin(leg0 string, flags ...string) {
	w.t.Helper()
	w.new(w.name, leg0, flags...)
	w.loop = w.command("outerloop-tick", "--loop", "--until-idle")
	w.loop.Stdout, w.loop.Stderr = &w.said, &w.said
	if err := w.loop.Start(); err != nil {
		w.t.Fatal(err)
	}
}

// new makes a run, and nothing moves it yet.
func (w *weather) new(run, leg0 string, flags ...string) {
	w.t.Helper()
	w.write("leg0", leg0)
	args := append([]string{"outerloop-tick", "new", "--run", run, "--prompt", w.path("author"), "--sandbox", "none"}, flags...)
	w.run(append(args, "--", "sh", w.path("author"))...)
}

// end leaves nothing in the queue, and no process.
func (w *weather) end() {
	if w.loop != nil && w.loop.ProcessState == nil {
		w.loop.Process.Kill()
		w.loop.Wait()
	}
	if w.t.Failed() {
		kernel, _ := os.ReadFile(w.path(w.file("kernel.log")))
		record, _ := os.ReadFile(w.path(w.file("run.json")))
		w.t.Logf("the loop said:\n%s\nthe legs said:\n%s\nthe record is:\n%s", w.said.String(), kernel, record)
	}
	w.write("go", "")
	w.command("sh", "-c", "scancel $(squeue --noheader --format='%F %j' | sed -n 's/ "+w.name+"-.*//p')").Run()
	endAll(w.t, w.path("root"))
}

func (w *weather) path(name string) string { return filepath.Join(w.dir, name) }

func (w *weather) write(name, text string) {
	w.t.Helper()
	text = strings.ReplaceAll(text, "$DIR", w.dir)
	if err := os.WriteFile(w.path(name), []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// file is a file of the run's.
func (w *weather) file(name string) string { return filepath.Join("root/runs", w.name, name) }

// read returns a file's text, "" while there is none.
func (w *weather) read(name string) string {
	raw, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Error(err)
	}
	return string(raw)
}

func (w *weather) exists(name string) bool {
	_, err := os.Stat(w.path(name))
	return err == nil
}

func (w *weather) mkdir(name string) error { return os.MkdirAll(w.path(name), 0o700) }

func (w *weather) command(args ...string) *exec.Cmd {
	cmd := exec.Command("env", append(append([]string{"-i"}, w.env...), args...)...)
	cmd.Dir = w.dir
	return cmd
}

// run runs a program that has to succeed and returns what it printed.
func (w *weather) run(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *weather) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// patience is an upper bound for what takes Slurm seconds, or half a minute where it
// requeues a job.
const patience = 3 * time.Minute

func (w *weather) eventually(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// await waits until a file holds a text.
func (w *weather) await(file, text string) {
	w.t.Helper()
	w.eventually(file+" holds "+strconv.Quote(text), func() bool { return strings.Contains(w.read(file), text) })
}

// awaitFile waits until a file is there.
func (w *weather) awaitFile(file string) {
	w.t.Helper()
	w.eventually("there is "+file, func() bool { return w.exists(file) })
}

// state waits until the run is in a state.
func (w *weather) state(want engine.State) {
	w.t.Helper()
	w.eventually("the run is "+string(want), func() bool { return w.record().State == want })
}

func (w *weather) record() (rec engine.Record) {
	w.t.Helper()
	w.must(json.Unmarshal([]byte(w.read(w.file("run.json"))), &rec))
	return rec
}

// ids lists the run's jobs of one name, such as "launch-one", that have not ended.
func (w *weather) ids(job string) []string {
	w.t.Helper()
	// %F is what scancel takes for all tasks of an array.
	return strings.Fields(w.slurm("squeue", "--noheader", "--format=%F", "--name="+w.name+"-"+job))
}

// id waits for a job of the run.
func (w *weather) id(job string) string {
	w.t.Helper()
	var ids []string
	w.eventually(job+" is in the queue", func() bool {
		ids = w.ids(job)
		return len(ids) > 0
	})
	return ids[0]
}

// slurm runs one of Slurm's programs, which has to succeed.
func (w *weather) slurm(args ...string) string {
	w.t.Helper()
	out, err := w.cluster.Run(w.t.Context(), args...)
	w.must(err)
	return out
}

// clears waits for the run's end and says that it came as if there had been no
// weather: one record of each launch, one of the end of each of its jobs, both legs,
// and nothing left in the queue.
func (w *weather) clears() {
	w.t.Helper()
	w.ends(engine.Submitted)
	if got := w.read("legs"); !strings.HasSuffix(got, "0\n1\n") || strings.Count(got, "1") != 1 {
		w.t.Errorf("the author's legs were %q", got)
	}
	w.ledger()
	w.overhead()
}

// ends waits until the loop has nothing more to move.
func (w *weather) ends(want engine.Outcome) {
	w.t.Helper()
	timer := time.AfterFunc(patience, func() { w.loop.Process.Kill() })
	err := w.loop.Wait()
	timer.Stop()
	if rec := w.record(); err != nil || rec.Outcome != want {
		w.t.Fatalf("the loop ended: %v; the run is %s %s: %s", err, rec.State, rec.Outcome, rec.Reason)
	}
	w.eventually("nothing is left in the queue", func() bool {
		return !strings.Contains(w.slurm("squeue", "--noheader", "--format=%j"), w.name+"-")
	})
}

// ledger says that every launch has one record of its submission and every job one
// of its end, in as many lines.
func (w *weather) ledger() {
	w.t.Helper()
	file := w.file("launches.jsonl")
	log, err := ledger.History(w.path(file))
	w.must(err)
	if len(log.Launches) == 0 || len(log.Stray) > 0 || log.Lost > 0 {
		w.t.Errorf("the ledger: %+v", log)
	}
	lines := len(log.Launches)
	for _, l := range log.Launches {
		lines += l.Array
		if len(l.Jobs) != l.Array {
			w.t.Errorf("launch %s of %d has %d ends", l.Name, l.Array, len(l.Jobs))
		}
	}
	if got := strings.Count(w.read(file), "\n"); got != lines {
		w.t.Errorf("the ledger has %d lines, not %d:\n%s", got, lines, w.read(file))
	}
}

// ran says that jobs ran as often as this, and to their ends, and nothing else did.
func (w *weather) ran(want ...string) {
	w.t.Helper()
	got := make(map[string]int)
	for line := range strings.Lines(w.read("log")) {
		got[strings.TrimSpace(line)]++
	}
	for _, line := range want {
		got[line]--
	}
	for line, n := range got {
		if n != 0 {
			w.t.Errorf("%q: %+d times", line, n)
		}
	}
}

// once says that jobs began and ended once each, and nothing else did.
func (w *weather) once(jobs ...string) {
	w.t.Helper()
	var lines []string
	for _, job := range jobs {
		lines = append(lines, "begin "+job, "end "+job)
	}
	w.ran(lines...)
}

// told says that the author of the second leg was told all this.
func (w *weather) told(lines ...string) {
	w.t.Helper()
	prompt := w.read("prompt.1")
	for _, line := range lines {
		if !strings.Contains(prompt, line) {
			w.t.Errorf("the author was not told %q:\n%s", line, prompt)
		}
	}
}

// overhead logs what lay between the end of the last job and the next leg.
func (w *weather) overhead() {
	codes, _ := filepath.Glob(w.path(w.file("eval-launch-*/exit-code")))
	var last time.Time
	for _, code := range codes {
		if st, err := os.Stat(code); err == nil && st.ModTime().After(last) {
			last = st.ModTime()
		}
	}
	if st, err := os.Stat(w.path("prompt.1")); err == nil && !last.IsZero() {
		w.t.Logf("from the last job's end to the author's next leg: %s", st.ModTime().Sub(last).Round(time.Millisecond))
	}
}
