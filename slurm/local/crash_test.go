//go:build linux

package local

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

func TestKilledShepherd(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"one process", ": >started; exec sleep 600"},
		{"grandchildren", `trap '' TERM; sh -c 'trap "" TERM; : >started; while :; do sleep 600; done'; exit 0`},
		{"a process group of its own", "set -m; sleep 600 & : >started; wait"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			id := r.submit(tt.script)
			waiting := r.submit("exit 0", after(id))
			r.waitFile("started")
			r.kill(r.owner(id, 0))
			out := r.wait(id, slurm.NodeFail)
			if out.ExitCode != nil || out.Elapsed.Known {
				t.Errorf("outcome is %+v, want neither exit code nor run time", out)
			}
			r.wantNothingLeft()
			r.wait(waiting, slurm.Completed)
		})
	}
}

func TestAnotherBackendFindsTheJobs(t *testing.T) {
	r := newRig(t)
	id := r.submit(until("go") + "exit 5")
	owner := r.owner(id, 0)
	r.Backend = r.open()
	r.wantQueue(map[string]string{id: "RUNNING None"})
	if again := r.owner(id, 0); again != owner {
		t.Errorf("the job has the shepherd %v, want %v", again, owner)
	}
	r.mark("go")
	if out := r.wait(id, slurm.Failed); out.ExitCode == nil || *out.ExitCode != 5 {
		t.Errorf("outcome is %+v, want exit code 5", out)
	}
}

// A process that has the pid of a shepherd, but not its start time or boot, is
// none, and nothing is done to it.
func TestReusedPID(t *testing.T) {
	for name, change := range map[string]func(*identity){
		"start": func(id *identity) { id.Start = "1" },
		"boot":  func(id *identity) { id.Boot = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			bystander := r.bystander()
			owner := bystander
			change(&owner)
			id := r.adopt(startRecord{Owner: owner, At: time.Now()})
			if err := r.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			r.wait(id, slurm.NodeFail)
			if r.dead(bystander) {
				t.Error("the process that happens to have the pid was killed")
			}
		})
	}
}

// bystander starts a process that leads a session, as a shepherd does.
func (r *rig) bystander() identity {
	r.t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// adopt puts a job into the directory that looks as if it were running, with the
// given start, or without one if it is the zero value.
func (r *rig) adopt(start startRecord, change ...func(*slurm.JobSpec)) (id string) {
	r.t.Helper()
	v, err := r.store.enter(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer v.leave()
	j := r.newJob(r.script("echo ran >>ran", change...), v.at)
	j.Tasks[0] = task{State: slurm.Running, Nonce: "nonce", Spawns: 1}
	if err := v.add(j); err != nil {
		r.t.Fatal(err)
	}
	if start != (startRecord{}) {
		if _, err := linkJSON(startPath(j.dir, 0), start); err != nil {
			r.t.Fatal(err)
		}
	}
	return j.name()
}

// The visitor who gave the task its slot died before it could start a shepherd.
func TestSlotWithoutAShepherd(t *testing.T) {
	r := newRig(t)
	id := r.adopt(startRecord{})
	r.wait(id, slurm.Completed)
	if got := r.lines("ran"); len(got) != 1 {
		t.Errorf("the command ran %d times, want once", len(got))
	}
}

// Many shepherds of one task, as slow ones and their twins would be.
func TestTwinShepherds(t *testing.T) {
	r := newRig(t)
	id := r.adopt(startRecord{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { r.shepherd(id, "0", "nonce", 0) })
	}
	group.Wait()
	r.wait(id, slurm.Completed)
	if got := r.lines("ran"); len(got) != 1 {
		t.Errorf("the command ran %d times, want once", len(got))
	}
	// And one that comes when all is over.
	r.shepherd(id, "0", "nonce", 0)
	if got := r.lines("ran"); len(got) != 1 {
		t.Errorf("the command ran %d times, want once", len(got))
	}
}

// shepherd runs one in the foreground.
func (r *rig) shepherd(id, task, nonce string, want int, files ...*os.File) {
	r.t.Helper()
	cmd := exec.Command(r.opt.Shepherd[0], append(r.opt.Shepherd[1:len(r.opt.Shepherd):len(r.opt.Shepherd)], r.opt.Dir, id, task, nonce)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = files
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		r.t.Errorf("the shepherd returned %d, want %d:\n%s", got, want, out)
	}
}

func TestShepherdThatIsNotMeant(t *testing.T) {
	r := newRig(t)
	first := r.submit(until("go"))
	r.owner(first, 0)
	waiting := r.submit("echo ran >>ran", after(first))
	r.shepherd(waiting, "0", "", 0)
	r.shepherd(waiting, "0", "guess", 0)
	r.shepherd(waiting, "1", "", 0)
	r.shepherd("77", "0", "", 0)
	r.shepherd("no number", "0", "", 2)
	r.wantQueue(map[string]string{first: "RUNNING None", waiting: "PENDING Dependency"})
	r.mark("go")
	r.wait(waiting, slurm.Completed)
	if got := r.lines("ran"); len(got) != 1 {
		t.Errorf("the command ran %d times, want once", len(got))
	}
}

// A shepherd that was started with a descriptor too many keeps it to itself.
func TestDescriptorsAreKeptFromTheCommand(t *testing.T) {
	r := newRig(t)
	id := r.adopt(startRecord{}, func(s *slurm.JobSpec) { s.Command, s.Output = []string{"ls", "/proc/self/fd"}, "fds" })
	secret, err := os.Open(r.opt.Shepherd[0])
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	r.shepherd(id, "0", "nonce", 0, secret)
	r.wait(id, slurm.Completed)
	// ls has one more, for the directory that it lists.
	if got := strings.Join(r.lines("fds"), " "); got != "0 1 2 3" {
		t.Errorf("the command has the descriptors %s, want 0 1 2 3", got)
	}
}

// A cancellation comes when the task has a slot, and nobody owns it yet.
func TestCancelBeforeTheStart(t *testing.T) {
	r := newRig(t)
	id := r.adopt(startRecord{})
	if err := r.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.wait(id, slurm.Cancelled)
	r.shepherd(id, "0", "nonce", 0)
	if r.has("ran") {
		t.Error("the canceled task ran")
	}
}

// The same, and the visitor died before it could write down that it owns it.
func TestVoidedStart(t *testing.T) {
	r := newRig(t)
	id := r.adopt(startRecord{At: time.Now(), Void: slurm.Cancelled})
	r.shepherd(id, "0", "nonce", 0)
	r.wait(id, slurm.Cancelled)
	if r.has("ran") {
		t.Error("the canceled task ran")
	}
}

// The one who canceled died before it could tell the shepherd.
func TestCancellationOutlivesItsCaller(t *testing.T) {
	r := newRig(t)
	id := r.submit(": >started; exec sleep 600")
	r.waitFile("started")
	v, err := r.store.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = v.cancel(id)
	v.leave()
	if err != nil {
		t.Fatal(err)
	}
	r.wait(id, slurm.Cancelled)
}

func TestShepherdThatDoesNotWork(t *testing.T) {
	for name, program := range map[string]string{
		"that is not there":    "/no/such/program",
		"that ends by itself":  "/bin/true",
		"that says wrong call": "/bin/false",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Shepherd = []string{program} })
			id := r.submit("exit 0")
			if out := r.wait(id, slurm.NodeFail); out.Elapsed.Known {
				t.Errorf("outcome is %+v; it never ran", out)
			}
		})
	}
}

func TestCorruptRecordsStopNobody(t *testing.T) {
	var log lockedBuffer
	r := newRig(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	corrupt := map[string]string{}
	for _, content := range []string{"", "{", `{"id": 7}`, `{"id": "x"}`, "\x00\x00"} {
		id := r.submit("exit 0", after(r.submit(until("go"), cpus(0))))
		corrupt[id] = content
	}
	for id, content := range corrupt {
		if err := os.WriteFile(r.store.path("live", id, "job.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.mark("go")
	good := r.submit("exit 0")
	behind := r.submit("exit 0", func(s *slurm.JobSpec) {
		for id := range corrupt {
			s.After = append(s.After, id)
		}
	})
	r.wait(good, slurm.Completed)
	r.eventually("the others end", func() bool { return len(r.queue()) == len(corrupt)+1 })
	want := map[string]string{behind: "PENDING Dependency"}
	for id, content := range corrupt {
		want[id] = "UNKNOWN None"
		if got := r.look(id); got.State.Terminal() || got.State == "" {
			t.Errorf("a job that cannot be read is %q", got.State)
		}
		if err := r.Cancel(t.Context(), id); err == nil {
			t.Error("a job that cannot be read was canceled")
		}
		if got, err := os.ReadFile(r.store.path("live", id, "job.json")); err != nil || string(got) != content {
			t.Errorf("the record was touched: %q, %v", got, err)
		}
		if n := strings.Count(log.String(), "job="+id+" "); n != 1 {
			t.Errorf("job %s was reported %d times, want once", id, n)
		}
	}
	r.wantQueue(want)
	// For the rig, which waits for an empty queue.
	for id := range corrupt {
		if err := os.RemoveAll(r.store.path("live", id)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCorruptEndedRecord(t *testing.T) {
	r := newRig(t)
	id := r.submit("exit 0")
	r.wait(id, slurm.Completed)
	if err := os.Truncate(r.store.path("ended", id, "job.json"), 10); err != nil {
		t.Fatal(err)
	}
	if got := r.look(id); got.State != slurm.Unknown {
		t.Errorf("outcome is %+v, want UNKNOWN", got)
	}
}

// What an unfinished submission leaves behind is in nobody's way.
func TestUnfinishedSubmission(t *testing.T) {
	r := newRig(t)
	if err := os.Mkdir(r.store.path("new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.store.path("new", "job.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.store.path("last-id"), []byte("41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("41", r.store.tokenPath("tok")); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Find(t.Context(), "tok"); got != "" || err != nil {
		t.Errorf("Find is %q, %v; want none", got, err)
	}
	id := r.submit("exit 0", func(s *slurm.JobSpec) { s.Token = "tok" })
	if id != "42" {
		t.Errorf("the id is %s, want 42", id)
	}
	if got, err := r.Find(t.Context(), "tok"); got != id || err != nil {
		t.Errorf("Find is %q, %v; want %s", got, err, id)
	}
	r.wait(id, slurm.Completed)
}

// A kernel is killed again and again while it submits; everything that it was
// told is in runs, and runs once.
func TestKilledSubmitters(t *testing.T) {
	r := newRig(t)
	const rounds = 20
	for i := range rounds {
		token := strconv.Itoa(i)
		cmd := exec.Command(r.opt.Shepherd[0], "submit", r.opt.Dir, r.work, token, "echo "+token+" >>ran")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Any instruction will do; the spread covers the whole of a submission.
		time.Sleep(time.Duration(i) * 2 * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		id, err := r.Submit(t.Context(), r.script("echo "+token+" >>ran", func(s *slurm.JobSpec) { s.Token = token }))
		if err != nil {
			t.Fatal(err)
		}
		r.wait(id, slurm.Completed)
	}
	seen := map[string]int{}
	for _, token := range r.lines("ran") {
		seen[token]++
	}
	for i := range rounds {
		if n := seen[strconv.Itoa(i)]; n != 1 {
			t.Errorf("submission %d ran %d times, want once", i, n)
		}
	}
}

// A shepherd is killed, sooner or later. The task may be lost with it, or get
// another shepherd if it had not begun; it never runs twice.
func TestShepherdKilledAtAnyTime(t *testing.T) {
	r := newRig(t)
	const rounds = 20
	states := map[slurm.State]int{}
	for i := range rounds {
		id := r.submit("echo $OUTERLOOP_JOB_ID >>ran; echo ended >/dev/null")
		var shepherd identity
		if found, err := loadJSON(filepath.Join(r.store.path("live", id), "0.spawn"), &shepherd); found && err == nil {
			time.Sleep(time.Duration(i) * time.Millisecond)
			r.kill(shepherd)
		}
		var out slurm.Outcome
		r.eventually("job "+id+" ends", func() bool {
			out = r.look(id)
			return out.State.Terminal()
		})
		states[out.State]++
		n := 0
		for _, ran := range r.lines("ran") {
			if ran == id {
				n++
			}
		}
		switch {
		case out.State == slurm.Completed && n == 1:
		case out.State == slurm.NodeFail && n <= 1:
		default:
			t.Errorf("killed after %d ms: job %s is %s and ran %d times", i, id, out.State, n)
		}
	}
	t.Logf("outcomes: %v", states)
	r.wantNothingLeft()
}

// submitMain is a kernel that submits one job and ends.
func submitMain(args []string) int {
	b, err := Open(Options{Dir: args[0], Shepherd: []string{os.Args[0], "shepherd"}, CPUs: 2})
	if err != nil {
		return 1
	}
	_, err = b.Submit(context.Background(), slurm.JobSpec{
		Name: "test", Token: args[2], Command: []string{"/bin/sh", "-c", args[3]},
		Dir: args[1], Minutes: 1, CPUs: 1, Output: filepath.Join(args[1], "out"),
	})
	if err != nil {
		return 1
	}
	return 0
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
