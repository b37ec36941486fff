package watcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

func TestAnswers(t *testing.T) {
	w := newWatcher(t, Options{})
	p := newPeer(t)
	p.leave("early") // before anybody watches
	mustAdd(t, w, p, map[string]Handler{
		"early":       text("early"),
		"text":        text("<a> & b"),
		"raw":         func(context.Context) (any, error) { return json.RawMessage(`{"as": "it is"}`), nil },
		"fails":       func(context.Context) (any, error) { return nil, errors.New("no idea; ask again") },
		"panics":      func(context.Context) (any, error) { panic("a bug in a handler") },
		"unencodable": func(context.Context) (any, error) { return func() {}, nil },
		"large": func(context.Context) (any, error) {
			return json.RawMessage(strings.Repeat(" ", channel.MaxAnswerBytes+1)), nil
		},
		"larger": func(context.Context) (any, error) { return strings.Repeat("x", 100<<20), nil },
	})
	for verb, want := range map[string]string{"early": `"early"` + "\n", "text": `"<a> & b"` + "\n", "raw": `{"as": "it is"}`} {
		if got := string(p.ask(verb).Data); got != want {
			t.Errorf("%s: %q, want %q", verb, got, want)
		}
	}
	for verb, want := range map[string]string{"fails": "no idea; ask again", "panics": "the kernel failed", "unencodable": "cannot be written", "large": "at most", "larger": "at most"} {
		for range 2 { // a verb that failed once is not lost
			if got := errorOf(t, p.ask(verb)); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", verb, got, want)
			}
		}
	}
}

func TestAddRefuses(t *testing.T) {
	w := newWatcher(t, Options{})
	p := newPeer(t)
	for verb, h := range map[string]Handler{"../x": text(""), "": text(""), "queue": nil} {
		if _, err := w.Add(p.kernel, map[string]Handler{verb: h}); err == nil {
			t.Errorf("verb %q was taken", verb)
		}
	}
	mustDo(t, w.Close(), w.Close())
	if _, err := w.Add(p.kernel, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Add after Close: %v", err)
	}
}

// TestSlowHandler: a handler that hangs delays neither another verb of its
// channel nor the same verb of another one, and is not called twice at a time.
func TestSlowHandler(t *testing.T) {
	w := newWatcher(t, Options{})
	p, other := newPeer(t), newPeer(t)
	release := make(chan struct{})
	var calls, atOnce atomic.Int32
	slow := func(context.Context) (any, error) {
		if atOnce.Add(1) > 1 {
			t.Error("two calls at once")
		}
		defer atOnce.Add(-1)
		calls.Add(1)
		<-release
		return calls.Load(), nil
	}
	mustAdd(t, w, p, map[string]Handler{"slow": slow, "quick": text("quick")})
	mustAdd(t, w, other, map[string]Handler{"slow": text("other")})
	p.leave("slow")
	within(t, "the slow handler is called", func() bool { return calls.Load() == 1 })
	p.ask("quick")
	other.ask("slow")
	p.leave("slow") // meanwhile; is answered by a call of its own
	if _, err := os.Stat(p.path("slow-done")); err == nil {
		t.Error("the slow question was acknowledged before it was answered")
	}
	close(release)
	within(t, "the second question is answered", func() bool {
		_, pending, err := p.kernel.Pending("slow")
		mustDo(t, err)
		return !pending
	})
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
}

// TestHungHandler: one that ignores its context is answered for, and so are the
// questions that come while it hangs. Once it is back all is as before.
func TestHungHandler(t *testing.T) {
	var log logBuffer
	w := newWatcher(t, Options{Timeout: 50 * time.Millisecond, Log: log.logger()})
	p := newPeer(t)
	release := make(chan struct{})
	mustAdd(t, w, p, map[string]Handler{
		"hangs": func(context.Context) (any, error) { <-release; return "late", nil },
		"heeds": func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	})
	if got := errorOf(t, p.ask("heeds")); !strings.Contains(got, "within 50ms") {
		t.Errorf("heeds: %q", got)
	}
	if got := errorOf(t, p.ask("hangs")); !strings.Contains(got, "within 50ms") {
		t.Errorf("hangs: %q", got)
	}
	for range 3 {
		if got := errorOf(t, p.ask("hangs")); !strings.Contains(got, "still hangs") {
			t.Errorf("hangs, asked again: %q", got)
		}
	}
	close(release)
	within(t, "the handler answers again", func() bool { return string(p.ask("hangs").Data) == "\"late\"\n" })
	if !strings.Contains(log.String(), "a handler does not return") {
		t.Errorf("the log says %s", log.String())
	}
}

// TestCloseInFlight: nothing is written once Close has returned, whether the
// handler heeds its context or not.
func TestCloseInFlight(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprintf("heeds=%v", heeds), func(t *testing.T) {
			w := newWatcher(t, Options{Grace: 20 * time.Millisecond})
			p := newPeer(t)
			called, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s := mustAdd(t, w, p, map[string]Handler{"slow": func(ctx context.Context) (any, error) {
				defer close(returned)
				close(called)
				if heeds {
					<-ctx.Done()
				} else {
					<-release
				}
				return "too late", nil
			}})
			p.leave("slow")
			<-called
			err := s.Close()
			if heeds != (err == nil) {
				t.Errorf("Close: %v", err)
			}
			before := p.snapshot()
			close(release)
			<-returned
			p.leave("slow")
			mustDo(t, p.kernel.Close())
			// The handler's goroutine gets every chance to write.
			within(t, "the goroutine ends", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.active == 0 })
			after := p.snapshot()
			for _, own := range []string{"slow-request", "session.lock", ""} {
				delete(before, p.path(own))
				delete(after, p.path(own))
			}
			if !maps.Equal(before, after) {
				t.Errorf("before: %v\nafter: %v", before, after)
			}
		})
	}
}

// TestCloseEndsEverything: no goroutine is left, questions in flight or not.
func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		w := New(Options{})
		p := newPeer(t)
		mustAdd(t, w, p, map[string]Handler{"a": text("a"), "slow": func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		p.leave("slow")
		p.leave("a")
		p.removeChannel() // the library's own hang, if nobody drained
		mustDo(t, w.Close())
	}
	within(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestReplacedChannel does to the directory what a session may do to it.
func TestReplacedChannel(t *testing.T) {
	for name, replace := range map[string]func(p *peer){
		"removed and made anew": func(p *peer) {
			p.removeChannel()
			mustDo(t, os.Mkdir(p.path(""), 0o777))
		},
		"moved away and made anew": func(p *peer) {
			mustDo(t, os.Rename(p.path(""), t.TempDir()+"/aside"), os.Mkdir(p.path(""), 0o777))
		},
		"moved away and back": func(p *peer) {
			mustDo(t, os.Rename(p.path(""), p.workspace+"/aside"), os.Rename(p.workspace+"/aside", p.path("")))
		},
		"a file in its place for a while": func(p *peer) {
			p.removeChannel()
			mustDo(t, os.WriteFile(p.path(""), nil, 0o666))
			time.Sleep(2 * checkDelay) // long enough to be noticed as gone
			mustDo(t, os.Remove(p.path("")), os.Mkdir(p.path(""), 0o777))
		},
		"the probe removed": func(p *peer) {
			// The one that was removed in the round before may not be back yet.
			within(t, "there is a probe", func() bool { return os.Remove(p.path(probeFile)) == nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatcher(t, Options{})
			p := newPeer(t)
			s := mustAdd(t, w, p, map[string]Handler{"a": text("a")})
			trust(t, s) // of an empty channel: the probe is all that is in it
			for range 3 {
				replace(p)
				p.ask("a")
				trust(t, s)
				if a := p.ask("a"); string(a.Data) != "\"a\"\n" {
					t.Errorf("%q", a.Data)
				}
			}
		})
	}
}

// TestOldPeer asks as the Python verbs do: touch, and one second past what was
// answered where the marker is not newer.
func TestOldPeer(t *testing.T) {
	w := newWatcher(t, Options{})
	p := newPeer(t)
	var calls atomic.Int32
	mustAdd(t, w, p, map[string]Handler{"a": func(context.Context) (any, error) { return calls.Add(1), nil }})
	at := time.Now().Add(time.Hour) // a marker ahead of every clock is moved on all the same
	for i := range 5 {
		at = at.Add(time.Second)
		mustDo(t, touch(p.path("a-request"), at))
		want := channel.StampOf(at)
		within(t, "the stamp is acknowledged", func() bool {
			raw, err := os.ReadFile(p.path("a-done"))
			return err == nil && channel.ParseStamp(raw) >= want
		})
		raw, err := os.ReadFile(p.path("a.json"))
		if err != nil || strings.TrimSpace(string(raw)) == "" {
			t.Errorf("question %d: %q, %v", i, raw, err)
		}
	}
}

// TestOtherProcess has verbs of other processes ask, two at a time.
func TestOtherProcess(t *testing.T) {
	if workspace := os.Getenv("WATCHER_TEST_ASKER"); workspace != "" {
		p := &peer{t: t, workspace: workspace}
		for range 20 {
			p.ask("a")
			p.ask("b")
		}
		return
	}
	w := newWatcher(t, Options{})
	p := newPeer(t)
	mustAdd(t, w, p, map[string]Handler{"a": text("a"), "b": text("b")})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestOtherProcess$")
			cmd.Env = append(os.Environ(), "WATCHER_TEST_ASKER="+p.workspace)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
}

// TestManyChannels serves 500 channels and holds no goroutine for any of them.
func TestManyChannels(t *testing.T) {
	const channels = 500
	w := newWatcher(t, Options{})
	before := runtime.NumGoroutine()
	peers := make([]*peer, channels)
	watches := make([]*Watch, channels)
	for i := range peers {
		peers[i] = newPeer(t)
		watches[i] = mustAdd(t, w, peers[i], map[string]Handler{"a": text(fmt.Sprint(i))})
	}
	for _, s := range watches {
		trust(t, s)
	}
	for i, p := range peers {
		if got := string(p.ask("a").Data); got != fmt.Sprintf("%q\n", fmt.Sprint(i)) {
			t.Fatalf("channel %d: %q", i, got)
		}
	}
	within(t, "idle channels have no goroutines", func() bool { return runtime.NumGoroutine() <= before+1 })

	// A descriptor's number is another channel's as soon as it is free. Closing
	// one must not take the other's watch along.
	for i := 0; i < channels; i += 2 {
		mustDo(t, watches[i].Close(), peers[i].kernel.Close())
		p := newPeer(t)
		trust(t, mustAdd(t, w, p, map[string]Handler{"a": text("new")}))
		peers[i] = p
	}
	for _, p := range peers {
		p.ask("a")
	}
}
