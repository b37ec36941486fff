package watcher

import (
	"errors"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// faulty is real file events with faults: silent ones, lost ones, none.
type faulty struct {
	notifier
	events chan fsnotify.Event
	errs   chan error
	pass   func(fsnotify.Event) bool
	add    func(string) error
}

func newFaulty(t *testing.T, pass func(fsnotify.Event) bool) *faulty {
	t.Helper()
	real, err := newNotifier()
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{real, make(chan fsnotify.Event), make(chan error), pass, real.Add}
	go func() {
		defer close(f.events)
		for e := range real.Events() {
			if f.pass(e) {
				f.events <- e
			}
		}
	}()
	go func() {
		defer close(f.errs)
		for err := range real.Errors() {
			f.errs <- err
		}
	}()
	return f
}

func (f *faulty) Events() <-chan fsnotify.Event { return f.events }
func (f *faulty) Errors() <-chan error          { return f.errs }
func (f *faulty) Add(path string) error         { return f.add(path) }

func quickPoll(log *logBuffer) Options {
	return Options{Poll: 5 * time.Millisecond, Log: log.logger()}
}

// TestSilentEvents: where the watch is accepted and nothing ever comes, the
// watcher finds out and polls.
func TestSilentEvents(t *testing.T) {
	var log logBuffer
	w := start(quickPoll(&log), newFaulty(t, func(fsnotify.Event) bool { return false }))
	defer w.Close()
	p := newPeer(t)
	mustAdd(t, w, p, map[string]Handler{"a": text("a")})
	for range 3 {
		p.ask("a")
	}
	if n := strings.Count(log.String(), "never come"); n != 1 {
		t.Errorf("said %d times that events never come:\n%s", n, log.String())
	}
}

// TestFallsSilent: where file events came and come no more, a poll that finds what they
// should have announced has the watcher find out, and say so.
func TestFallsSilent(t *testing.T) {
	var log logBuffer
	var deaf atomic.Bool
	w := start(quickPoll(&log), newFaulty(t, func(fsnotify.Event) bool { return !deaf.Load() }))
	defer w.Close()
	w.local = func(string) bool { return false } // else nothing polls
	p := newPeer(t)
	s := mustAdd(t, w, p, map[string]Handler{"a": text("a")})
	trust(t, s)
	p.ask("a")
	if strings.Contains(log.String(), "never come") {
		t.Fatalf("events that come are said not to:\n%s", log.String())
	}
	deaf.Store(true)
	within(t, "the silence is noticed", func() bool {
		p.ask("a")
		return strings.Contains(log.String(), "never come")
	})
}

// TestNoWatches: neither an instance nor a watch is to be had.
func TestNoWatches(t *testing.T) {
	full := newFaulty(t, func(fsnotify.Event) bool { return true })
	full.add = func(string) error { return syscall.ENOSPC }
	for name, n := range map[string]notifier{"no instance": nil, "no watch": full} {
		t.Run(name, func(t *testing.T) {
			var log logBuffer
			w := start(quickPoll(&log), n)
			defer w.Close()
			p := newPeer(t)
			mustAdd(t, w, p, map[string]Handler{"a": text("a")})
			p.ask("a")
			p.removeChannel()
			mustDo(t, syscall.Mkdir(p.path(""), 0o777))
			p.ask("a")
			if !strings.Contains(log.String(), "file events") {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

// TestLostEvents: events that are dropped with an overflow cost nothing but a
// look at everything, whether they told of a question or of a new directory.
func TestLostEvents(t *testing.T) {
	var deaf atomic.Bool
	f := newFaulty(t, func(fsnotify.Event) bool { return !deaf.Load() })
	w := start(Options{}, f)
	defer w.Close()
	p, moved := newPeer(t), newPeer(t)
	watches := []*Watch{
		mustAdd(t, w, p, map[string]Handler{"a": text("a")}),
		mustAdd(t, w, moved, map[string]Handler{"a": text("a")}),
	}
	for _, s := range watches {
		trust(t, s)
	}
	deaf.Store(true)
	p.leave("a")
	mustDo(t, syscall.Rename(moved.path(""), t.TempDir()+"/aside"), syscall.Mkdir(moved.path(""), 0o777))
	moved.leave("a")
	f.errs <- fsnotify.ErrEventOverflow
	deaf.Store(false)
	for _, p := range []*peer{p, moved} {
		within(t, "the question is answered", func() bool {
			_, pending, err := p.kernel.Pending("a")
			return err == nil && !pending
		})
		p.ask("a")
	}
	for range 100 { // errors in a row do not become looks in a row
		f.errs <- errors.New("some other error")
	}
	p.ask("a")
}

// TestOwnEvents: what the watcher itself writes makes it look at nothing.
func TestOwnEvents(t *testing.T) {
	var requests atomic.Int32
	f := newFaulty(t, func(e fsnotify.Event) bool {
		if strings.HasSuffix(path.Base(e.Name), "-request") {
			requests.Add(1)
		}
		return true
	})
	w := start(Options{}, f)
	defer w.Close()
	p := newPeer(t)
	s := mustAdd(t, w, p, map[string]Handler{"a": text("a")})
	trust(t, s)
	for range 20 {
		p.ask("a")
	}
	q := s.verbs["a"]
	within(t, "it rests", func() bool { q.mu.Lock(); defer q.mu.Unlock(); return !q.running })
	// One creation and its touch, then one touch a question.
	if n := requests.Load(); n > 21+1 {
		t.Errorf("%d events on the marker for 20 questions", n)
	}
}

func TestPaceTellsAskingFromFlooding(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var honest pace
	for range answersAtOnce - 1 {
		for range 10 { // its own two events, and the answer's
			if honest.event(now) {
				t.Fatal("a session that asks as fast as it can counts as a flood")
			}
		}
		if honest.answered(now, 100) {
			t.Fatal("a session is held up before it has had its answers")
		}
		now = now.Add(100 * time.Microsecond)
	}
	var patient pace
	for range 10 * answersAtOnce {
		if patient.answered(now, 100) {
			t.Fatal("a session within its rate is held up")
		}
		now = now.Add(time.Second / answersASecond)
	}
	var greedy pace
	n := 0
	for ; !greedy.answered(now, 32<<20); n++ {
	}
	if n > answersAtOnce/100 {
		t.Errorf("%d answers of 32 MB at full speed", n)
	}
	var loop pace
	n = 0
	for ; !loop.event(now); n++ {
		now = now.Add(7 * time.Microsecond)
	}
	if n > maxIdleEvents {
		t.Errorf("a loop is noticed after %d events", n)
	}
}
