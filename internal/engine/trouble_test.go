package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

// at sets the bench's clock.
func (b *bench) at(offset time.Duration) {
	b.Now = func() time.Time { return time.Now().Add(offset) }
}

// ended checks the end of the run and that the ledger has one for every launch.
func (b *bench) ended(t *testing.T, outcome Outcome, launches int) *Record {
	t.Helper()
	rec, err := loadRecord(b.Root.RunDir(b.id), b.id)
	if err != nil {
		t.Fatal(err)
	}
	if rec.State != Ended || rec.Outcome != outcome {
		t.Errorf("%s, %s: %s", rec.State, rec.Outcome, rec.Reason)
	}
	log, err := ledger.History(ledgerPath(b.Root.RunDir(b.id)))
	if err != nil || len(log.Launches) != launches {
		t.Fatalf("%+v, %v", log, err)
	}
	for _, l := range log.Launches {
		if len(l.Jobs) != 1 {
			t.Errorf("%s has %d ends", l.Name, len(l.Jobs))
		}
	}
	return &rec
}

// Past its deadline a run gets one wake that waits for nothing, and that one is
// left to come.
func TestOneLateWake(t *testing.T) {
	b := newBench(t)
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	b.at(patience + time.Hour)
	b.sched.over = map[string]slurm.Outcome{"1": {State: slurm.Pending}, "2": {State: slurm.Pending}, "3": {State: slurm.Pending}}
	for range 5 {
		if broken := b.pass(t); len(broken) > 0 {
			t.Fatal(broken)
		}
	}
	if got := b.sched.names(); got != "r-launch-one r-wake-1 r-wake-1" {
		t.Errorf("submitted: %s", got)
	}
	if after := b.sched.jobs[2].After; len(after) > 0 {
		t.Errorf("the late wake waits for %q", after)
	}
	if !slices.Equal(b.sched.cancelled, []string{"2"}) {
		t.Errorf("cancelled: %q", b.sched.cancelled)
	}
}

func TestStuckLeavesNothingBehind(t *testing.T) {
	b := newBench(t)
	b.sched.faults[2] = refused // the wake
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	b.at(time.Minute)
	for range 3 {
		b.pass(t)
	}
	b.ended(t, Stuck, 1)
	if !slices.Contains(b.sched.cancelled, "1") {
		t.Errorf("cancelled: %q", b.sched.cancelled)
	}
}

// A run that is ended while its jobs go in starts none that was not in yet.
func TestEndSubmitsNothing(t *testing.T) {
	b := newBench(t)
	b.sched.faults[1] = lostAnswer
	if err := b.sleep(t, "one", "two"); err == nil {
		t.Fatal("the answer was not lost")
	}
	if err := b.End(t.Context(), b.id); err != nil {
		t.Fatal(err)
	}
	if got := b.sched.names(); got != "r-launch-one" {
		t.Errorf("submitted: %s", got)
	}
	if !slices.Contains(b.sched.cancelled, "1") {
		t.Errorf("cancelled: %q", b.sched.cancelled)
	}
	b.ended(t, Canceled, 2)
}

// A disk that is full or away holds a run up for as long as it is, and ends none:
// the step stays, the reason is kept, and no attempt is counted.
func TestDiskTrouble(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ESTALE, syscall.EROFS} {
		b := newBench(t)
		r := b.open(t)
		now := time.Now()
		b.Now = func() time.Time { return now }
		why := fmt.Errorf("writing the prompt: %w", &os.PathError{Op: "write", Path: "prompt.md", Err: errno})
		for range 5 * maxAttempts {
			if err := b.trouble(t.Context(), r, why); err != nil {
				t.Fatal(err)
			}
		}
		rec, err := loadRecord(b.Root.RunDir(b.id), b.id)
		if err != nil {
			t.Fatal(err)
		}
		if rec.State != Ready || rec.Attempts != 0 || rec.LastError != why.Error() || !rec.NotBefore.Equal(now.Add(diskPause)) {
			t.Errorf("%v: %s, %d attempts, not before %s: %s", errno, rec.State, rec.Attempts, rec.NotBefore, rec.LastError)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A step that fails is taken again after growing pauses, and ends the run with
// the reason when it has failed too often. The scheduler's troubles never do.
func TestTrouble(t *testing.T) {
	b := newBench(t)
	r := b.open(t)
	now := time.Now()
	b.Now = func() time.Time { return now }
	for range 50 {
		if err := b.trouble(t.Context(), r, &schedulerError{errUnreachable}); err != nil || r.State != Ready || r.Attempts != 0 {
			t.Fatalf("%s, %d attempts, %v", r.State, r.Attempts, err)
		}
	}
	last := time.Duration(-1)
	for n := 1; n < maxAttempts; n++ {
		if err := b.trouble(t.Context(), r, errors.New("no such disk")); err != nil || r.State != Ready || r.Attempts != n {
			t.Fatalf("%s, %d attempts, %v", r.State, r.Attempts, err)
		}
		pause := r.NotBefore.Sub(now)
		if pause < last {
			t.Errorf("a pause of %s after one of %s", pause, last)
		}
		last = pause
	}
	if err := b.trouble(t.Context(), r, errors.New("no such disk")); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if rec := b.ended(t, Stuck, 0); !strings.Contains(rec.Reason, "no such disk") {
		t.Error(rec.Reason)
	}
}

func TestAnUnmeasuredGateIsRunAgain(t *testing.T) {
	b := newBench(t)
	r := b.open(t)
	r.Gate, r.GateMinutes = "true", 5
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	b.submit1(t)
	died := slurm.Outcome{State: slurm.NodeFail}
	b.sched.over = map[string]slurm.Outcome{"1": died, "3": died, "5": died}
	r = b.open(t)
	for range maxGates - 1 {
		if begin, err := b.wake(t.Context(), r); begin || err != nil || r.State != Parked {
			t.Fatalf("%t, %s, %v", begin, r.State, err)
		}
	}
	if got := b.sched.names(); got != "r-eval-1 r-wake-1 r-eval-1 r-wake-1 r-eval-1 r-wake-1" {
		t.Errorf("submitted: %s", got)
	}
	sleeps := r.Budget.Sleeps
	if begin, err := b.wake(t.Context(), r); !begin || err != nil {
		t.Fatalf("%t, %v", begin, err)
	}
	prompt, err := os.ReadFile(r.legPath(1, "prompt.md"))
	if err != nil || !strings.Contains(string(prompt), "It could not be measured") || r.Budget.Sleeps != sleeps+1 {
		t.Errorf("%d sleeps of %d, %v:\n%s", r.Budget.Sleeps, sleeps, err, prompt)
	}
	r.Close()
}

// submit1 has the author submit.
func (b *bench) submit1(t *testing.T) {
	t.Helper()
	r := b.open(t)
	defer r.Close()
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	text := `{"type": "sleep", "launches": [], "note": "", "submit": true, "report": "It wins."}`
	if err := os.WriteFile(filepath.Join(r.Workspace, channel.DirName, channel.CommittedFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.State = Running
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	if err := b.finishLeg(t.Context(), r, k, ending{Cause: byItself}); err != nil {
		t.Fatal(err)
	}
}

func TestWorkspacesAreApart(t *testing.T) {
	b := newBench(t) // run r works in ws beside the root
	dir := filepath.Dir(string(b.Root))
	inside := filepath.Join(dir, "ws", "sub")
	apart := filepath.Join(dir, "apart")
	for _, d := range []string{inside, apart} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	try := func(change func(*NewRun)) error {
		n := NewRun{Prompt: []byte("x"), Settings: Settings{
			Command: []string{"true"}, Sandbox: sandbox.None, LegTime: Duration{time.Minute}, CPUs: 1, Workspace: apart,
		}}
		change(&n)
		_, err := New(t.Context(), b.Root, n, time.Now(), slog.New(slog.DiscardHandler))
		return err
	}
	for name, change := range map[string]func(*NewRun){
		"the same":            func(n *NewRun) { n.Workspace = filepath.Join(dir, "ws") },
		"inside":              func(n *NewRun) { n.Workspace = inside },
		"around":              func(n *NewRun) { n.Workspace = dir },
		"in the state root":   func(n *NewRun) { n.Workspace = b.Root.RunDir(b.id) },
		"reads the root":      func(n *NewRun) { n.Read = []string{string(b.Root)} },
		"reads a run":         func(n *NewRun) { n.Read = []string{b.Root.RunDir(b.id)} },
		"reads what holds it": func(n *NewRun) { n.Read = []string{dir} },
		"no UTF-8":            func(n *NewRun) { n.Command = []string{"a\xffb"} },
		"no UTF-8 in a gate":  func(n *NewRun) { n.Gate, n.GateMinutes = "\xff", 1 },
	} {
		var bad *SettingsError
		if err := try(change); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := try(func(*NewRun) {}); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(b.Root.join("runs", ".new-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
