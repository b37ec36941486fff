package watcher

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// patience bounds what must happen. It is never waited for in a run that passes.
const patience = 60 * time.Second

// peer is one workspace with both halves of its channel.
type peer struct {
	t         testing.TB
	workspace string
	kernel    *channel.Kernel
}

func newPeer(t testing.TB) *peer {
	t.Helper()
	p := &peer{t: t, workspace: t.TempDir()}
	k, err := channel.CreateKernel(p.workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	p.kernel = k
	return p
}

func (p *peer) path(name string) string { return filepath.Join(p.workspace, channel.DirName, name) }

// ask asks as a verb does.
func (p *peer) ask(verb string) channel.Answer {
	p.t.Helper()
	s, err := channel.FindSession(p.workspace, "")
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Ask(context.Background(), verb, patience)
	if err != nil {
		p.t.Fatalf("%s: %v", verb, err)
	}
	return a
}

// leave asks and does not wait.
func (p *peer) leave(verb string) {
	p.t.Helper()
	s, err := channel.FindSession(p.workspace, "")
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	s.Ask(context.Background(), verb, 0)
}

// errorOf is the error that an answer holds.
func errorOf(t testing.TB, a channel.Answer) string {
	t.Helper()
	var v struct {
		At    float64
		Error string
	}
	if err := json.Unmarshal(a.Data, &v); err != nil || v.At == 0 {
		t.Fatalf("the answer is %q: %v", a.Data, err)
	}
	return v.Error
}

// text is a handler that answers with that text.
func text(s string) Handler {
	return func(context.Context) (any, error) { return s, nil }
}

func newWatcher(t testing.TB, opts Options) *Watcher {
	t.Helper()
	w := New(opts)
	t.Cleanup(func() { w.Close() })
	return w
}

func mustAdd(t testing.TB, w *Watcher, p *peer, handlers map[string]Handler) *Watch {
	t.Helper()
	s, err := w.Add(p.kernel, handlers)
	if err != nil {
		t.Fatal(err)
	}
	// Before the workspace goes: an answer would be written while it is removed.
	t.Cleanup(func() { s.Close() })
	return s
}

// within waits until something holds.
func within(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// trust waits until the watch does without polling.
func trust(t testing.TB, s *Watch) {
	t.Helper()
	within(t, "events are heard", func() bool {
		s.busy.Lock()
		defer s.busy.Unlock()
		return s.path != "" && s.probeBy.IsZero() && s.checkAt.IsZero()
	})
}

// snapshot is everything in the channel, to see that nothing is written.
func (p *peer) snapshot() map[string]string {
	p.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(p.path(""), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err == nil {
			all[path] = st.ModTime().String()
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// removeChannel is rm -rf until it succeeds: an answer that is put in place
// meanwhile makes it fail.
func (p *peer) removeChannel() {
	p.t.Helper()
	within(p.t, "the channel is removed", func() bool { return os.RemoveAll(p.path("")) == nil })
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func mustDo(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func touch(path string, at time.Time) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	f.Close()
	return os.Chtimes(path, at, at)
}
