package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

// scheduler stands in for a backend that fails at chosen moments. The jobs it
// is given never run.
type scheduler struct {
	mu     sync.Mutex
	jobs   []slurm.JobSpec // by id-1
	over   map[string]slurm.Outcome
	faults map[int]fault // by the number of the call to Submit, from 1
	calls  int
	blind  bool // Find and Outcomes fail

	queue     []slurm.Row
	cancelled []string
}

type fault int

const (
	lostAnswer fault = iota + 1 // the job is in, the answer is not
	notIn                       // neither is
	refused
)

var errUnreachable = errors.New("the scheduler does not answer")

func (s *scheduler) Submit(_ context.Context, spec slurm.JobSpec) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	switch s.faults[s.calls] {
	case notIn:
		return "", errUnreachable
	case refused:
		return "", &slurm.RefusedError{Job: spec.Name, Reason: "Invalid account"}
	case lostAnswer:
		s.jobs = append(s.jobs, spec)
		return "", errUnreachable
	}
	s.jobs = append(s.jobs, spec)
	return strconv.Itoa(len(s.jobs)), nil
}

func (s *scheduler) Find(_ context.Context, token string) (string, error) {
	if s.blind {
		return "", errUnreachable
	}
	for i, job := range s.jobs {
		if job.Token == token {
			return strconv.Itoa(i + 1), nil
		}
	}
	return "", nil
}

func (s *scheduler) Queue(context.Context) ([]slurm.Row, error) { return s.queue, nil }

func (s *scheduler) Outcomes(context.Context, []string) (map[string]slurm.Outcome, error) {
	if s.blind {
		return nil, errUnreachable
	}
	return s.over, nil
}

func (s *scheduler) OutcomesSince(ctx context.Context, ids []string, _ time.Time) (map[string]slurm.Outcome, error) {
	return s.Outcomes(ctx, ids)
}

func (s *scheduler) Cancel(_ context.Context, ids ...string) error {
	s.cancelled = append(s.cancelled, ids...)
	return nil
}

func (s *scheduler) Nodes(context.Context, string) (map[string]int, error) {
	return nil, slurm.ErrUnsupported
}

// names are the names of the jobs that went in, in order.
func (s *scheduler) names() string {
	var names []string
	for _, job := range s.jobs {
		names = append(names, job.Name)
	}
	return strings.Join(names, " ")
}

// bench is a state root with one run whose author has just ended.
type bench struct {
	*Engine
	sched *scheduler
	id    string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	root, err := CreateRoot(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(dir, "ws")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := New(t.Context(), root, NewRun{
		ID: "r", Prompt: []byte("task"), Budget: Budget{Launches: 5, Sleeps: 5},
		Settings: Settings{
			Agent: "a", Workspace: workspace, Command: []string{"true"}, Sandbox: sandbox.None,
			LegTime: Duration{time.Hour}, CPUs: 1,
		},
	}, time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	sched := &scheduler{faults: map[int]fault{}}
	return &bench{&Engine{
		Root: root, Backend: sched, Program: Program{"/nowhere"}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}, sched, id}
}

// sleep commits a request as an author would and has the kernel carry it out.
func (b *bench) sleep(t *testing.T, launches ...string) error {
	t.Helper()
	r := b.open(t)
	defer r.Close()
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	s, err := channel.FindSession(r.Workspace, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Stage(t.Context(), func(staged *channel.Staged) error {
		for _, name := range launches {
			staged.Launches = append(staged.Launches, channel.Launch{Name: name, Command: "true", Minutes: 1, Array: 1})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitSleep(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.State = Running
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	return b.finishLeg(t.Context(), r, k, ending{Cause: byItself})
}

func (b *bench) open(t *testing.T) *Run {
	t.Helper()
	r, err := openRun(t.Context(), b.Root, b.id, 0, aLeg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pass is one tick that must find nothing broken.
func (b *bench) pass(t *testing.T) []error {
	t.Helper()
	sum, err := b.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum.Broken
}

func TestLostAnswersSubmitNothingTwice(t *testing.T) {
	const all = "r-launch-one r-launch-two r-wake-1"
	for call := 1; call <= 3; call++ {
		for _, f := range []fault{lostAnswer, notIn} {
			b := newBench(t)
			b.sched.faults[call] = f
			if err := b.sleep(t, "one", "two"); !errors.Is(err, errUnreachable) {
				t.Fatalf("call %d: %v", call, err)
			}
			// While the scheduler cannot say, nothing is tried again.
			b.sched.blind = true
			before := b.sched.calls
			if broken := b.pass(t); len(broken) != 1 || b.sched.calls != before {
				t.Errorf("call %d, fault %d: a blind tick: %v, %d submissions", call, f, broken, b.sched.calls-before)
			}
			b.sched.blind = false
			b.Now = func() time.Time { return time.Now().Add(time.Hour) } // the pause is over
			if broken := b.pass(t); len(broken) != 0 {
				t.Errorf("call %d, fault %d: %v", call, f, broken)
			}
			if got := b.sched.names(); got != all {
				t.Errorf("call %d, fault %d: %s", call, f, got)
			}
			r := b.open(t)
			log, err := ledger.History(r.ledgerPath())
			if err != nil || len(log.Launches) != 2 || log.Lost > 0 {
				t.Errorf("ledger: %+v, %v", log, err)
			}
			if r.State != Parked || r.Budget != (Budget{Launches: 3, Sleeps: 4}) || r.Sleeps != 1 {
				t.Errorf("call %d, fault %d: %s, %+v, %d sleeps", call, f, r.State, r.Budget, r.Sleeps)
			}
			r.Close()
		}
	}
}

func TestRefusedByTheScheduler(t *testing.T) {
	b := newBench(t)
	b.sched.faults[1] = refused
	if err := b.sleep(t, "one", "two"); err != nil {
		t.Fatal(err)
	}
	if got := b.sched.names(); got != "r-launch-two r-wake-1" {
		t.Error(got)
	}
	if after := b.sched.jobs[1].After; len(after) != 1 || after[0] != "1" {
		t.Errorf("the wake waits for %q", after)
	}
	b.sched.over = map[string]slurm.Outcome{"1": {State: slurm.Completed}}
	r := b.open(t)
	defer r.Close()
	if _, err := b.wake(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	prompt, err := os.ReadFile(r.legPath(1, "prompt.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(prompt), "The scheduler refused it, and it is not charged: Invalid account") {
		t.Errorf("%s", prompt)
	}
	if r.Budget.Launches != 4 {
		t.Errorf("%d launches left, and one of two never ran", r.Budget.Launches)
	}
}

func TestWakeWaitsForAnswers(t *testing.T) {
	b := newBench(t)
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	r := b.open(t)
	defer r.Close()
	// A job that waits is not over, and no answer is none.
	b.sched.over = map[string]slurm.Outcome{"1": {State: slurm.Pending}}
	if _, err := b.wake(t.Context(), r); !errors.Is(err, errNotOver) {
		t.Error(err)
	}
	b.sched.blind = true
	if _, err := b.wake(t.Context(), r); !errors.Is(err, errUnreachable) {
		t.Error(err)
	}
	// Past the deadline the author is woken with what there is.
	b.sched.blind = false
	b.Now = func() time.Time { return time.Now().Add(patience + time.Hour) }
	if _, err := b.wake(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	prompt, err := os.ReadFile(r.legPath(1, "prompt.md"))
	if err != nil || !strings.Contains(string(prompt), "not over by its deadline and cancelled") {
		t.Errorf("%s, %v", prompt, err)
	}
	log, err := ledger.History(r.ledgerPath())
	if err != nil || len(log.Launches) != 1 || len(log.Launches[0].Jobs) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
}

// A name may come again in a later sleep, and must not meet the exit code of
// the job that had it before.
func TestNamesComeAgain(t *testing.T) {
	b := newBench(t)
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	r := b.open(t)
	old := r.jobDir("one")
	if err := os.WriteFile(filepath.Join(old, "exit-code"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.wake(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(old, "exit-code")); err == nil {
		t.Error("the second launch has the exit code of the first")
	}
	if _, err := os.Stat(filepath.Join(b.Root.RunDir(b.id), "past", "1", "eval-launch-one", "exit-code")); err != nil {
		t.Error(err)
	}
}
