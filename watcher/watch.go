package watcher

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// Watch is one channel that is being answered.
type Watch struct {
	w      *Watcher
	kernel *channel.Kernel
	verbs  map[string]*question
	ctx    context.Context
	cancel context.CancelFunc

	pace  pace
	paced atomic.Bool // floods: one answer a look
	asked atomic.Bool // a question was found since the tender last looked at this
	heard atomic.Bool // the probe was announced

	wants want // guarded by w.mu
	tending

	// writing is held for reading while something is written into the channel.
	// Closing takes it for writing, so that when shut has returned nothing is
	// being written and nothing will be.
	writing sync.RWMutex
	shutOff bool

	mu     sync.Mutex
	over   bool          // no goroutine may begin
	active int           // goroutines that work for this channel
	idle   chan struct{} // closed when the last one has ended, once over
}

func newWatch(w *Watcher, k *channel.Kernel, handlers map[string]Handler) *Watch {
	s := &Watch{w: w, kernel: k, verbs: make(map[string]*question, len(handlers)), idle: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(w.ctx)
	for verb, handler := range handlers {
		s.verbs[verb] = &question{watch: s, verb: verb, handler: handler}
	}
	return s
}

// Close stops answering. The contexts of handlers that run end at once, and
// Close waits for them, [Options].Grace at most; one that has not returned by
// then is an error and is left behind. Whatever it still returns is dropped:
// once Close has returned, nothing is written into the channel, and the kernel
// half may be closed.
//
// Only a write to a filesystem that hangs can hold Close up longer, since it
// cannot be called back.
func (s *Watch) Close() error {
	s.shut()
	return s.close(time.Now().Add(s.w.opts.Grace))
}

// shut ends everything that goes on in the channel without waiting for it.
func (s *Watch) shut() {
	s.cancel()
	s.writing.Lock()
	s.shutOff = true
	s.writing.Unlock()
}

func (s *Watch) close(deadline time.Time) error {
	s.w.mu.Lock()
	delete(s.w.watches, s)
	s.w.mu.Unlock()
	s.unwatchForGood()

	s.mu.Lock()
	if !s.over {
		s.over = true
		if s.active == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-s.idle:
		return nil
	case <-timer.C:
		return fmt.Errorf("watcher: a handler has not returned %v after its context ended", s.w.opts.Grace)
	}
}

// begin counts a goroutine in that works for the channel, and is false when
// none may begin any more. Each begin that is true is followed by an end.
func (s *Watch) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.active++
	return true
}

func (s *Watch) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active == 0 && s.over {
		close(s.idle)
	}
}

// write runs do, which writes into the channel, unless the watch is closed.
func (s *Watch) write(do func() error) error {
	s.writing.RLock()
	defer s.writing.RUnlock()
	if s.shutOff {
		return context.Canceled
	}
	return do()
}

// look starts an answer to every question that is pending, and says whether there is one.
func (s *Watch) look() (found bool) {
	for _, q := range s.verbs {
		if _, pending, err := s.kernel.Pending(q.verb); pending || err != nil {
			s.asked.Store(true)
			q.poke()
			found = true
		}
	}
	return found
}
