package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// Handler answers one question. What it returns becomes the answer file:
// [encoding/json.RawMessage] as it is, anything else as JSON. An error becomes
// the answer {"at": …, "error": "…"}, which a verb shows to its caller, so it
// should say what could not be learned and when to try again.
//
// A handler runs in a goroutine of its own, never twice at a time for one verb of
// one channel. It has to return soon after its context ends: when the question
// has taken [Options].Timeout, or when the channel's watch is closed.
type Handler func(ctx context.Context) (answer any, err error)

// Options are a watcher's settings. The zero value of a field means its default.
type Options struct {
	Log *slog.Logger // default: says nothing

	// Poll is the shortest time between two looks at a channel without file
	// events; a channel that nobody asks in is looked at less and less, down to
	// every ten seconds. Default and least useful value: 2 s. Without a network
	// filesystem nothing is polled.
	Poll time.Duration
	// Timeout is how long a handler may take. Default 60 s.
	Timeout time.Duration
	// Timeouts are those of verbs whose handlers take longer, or less, than others.
	Timeouts map[string]time.Duration
	// Grace is how long Close waits for handlers to return once their context
	// has ended. Default 15 s.
	Grace time.Duration
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.Grace <= 0 {
		o.Grace = 15 * time.Second
	}
	return o
}

// ErrClosed is returned by Add once the watcher is closed.
var ErrClosed = errors.New("watcher: closed")

// Watcher answers questions in any number of channels. Its methods may be
// called by several goroutines at once.
type Watcher struct {
	opts   Options
	notify notifier              // nil where there are no file events at all
	local  func(dir string) bool // whether events tell all that happens in it
	ctx    context.Context
	cancel context.CancelFunc
	loops  sync.WaitGroup
	wake   chan struct{} // tells the tender that something was posted; holds one
	polls  chan struct{} // bounds the looks at slow filesystems that are under way

	mu      sync.Mutex
	closed  bool
	watches map[*Watch]struct{}
	paths   map[string]*Watch // by the path that is watched
	posted  []*Watch          // that the tender is to see to
	dropped bool              // events were lost: look everywhere
}

// New starts a watcher. It never fails: where the machine has no file events
// left to give (fs.inotify.max_user_instances), it polls and says so in the log.
func New(opts Options) *Watcher {
	opts = opts.withDefaults()
	notify, err := newNotifier()
	if err != nil {
		opts.Log.Warn("no file events, channels are polled", "error", err, "every", opts.Poll)
	}
	return start(opts, notify)
}

func start(opts Options, notify notifier) *Watcher {
	w := &Watcher{
		opts:    opts.withDefaults(),
		notify:  notify,
		local:   eventful,
		wake:    make(chan struct{}, 1),
		polls:   make(chan struct{}, maxPolls),
		watches: make(map[*Watch]struct{}),
		paths:   make(map[string]*Watch),
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.loops.Go(w.tend)
	if notify != nil {
		w.loops.Go(w.drain)
	}
	return w
}

// Add begins to answer the verbs in a channel, questions that already stand
// there included. A channel is added once at a time: file events of one directory
// go to one watch, and a second one would have to poll. The kernel half stays the caller's, who closes it after the
// watch and does not call its Refresh meanwhile.
func (w *Watcher) Add(k *channel.Kernel, handlers map[string]Handler) (*Watch, error) {
	for verb, handler := range handlers {
		if err := channel.CheckVerb(verb); err != nil {
			return nil, err
		}
		if handler == nil {
			return nil, fmt.Errorf("watcher: no handler for %s", verb)
		}
	}
	s := newWatch(w, k, maps.Clone(handlers))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		s.cancel()
		return nil, ErrClosed
	}
	w.watches[s] = struct{}{}
	w.postLocked(s, wantWatch)
	return s, nil
}

// Close closes all watches, at the same time, and ends every goroutine of the
// watcher. See [Watch.Close] for how long that takes and what holds afterwards.
func (w *Watcher) Close() error {
	w.mu.Lock()
	w.closed = true
	var all []*Watch
	for s := range w.watches {
		all = append(all, s)
	}
	w.mu.Unlock()

	// All contexts end first, or each handler would only learn of it when the
	// one before it has returned.
	for _, s := range all {
		s.shut()
	}
	var errs []error
	deadline := time.Now().Add(w.opts.Grace)
	for _, s := range all {
		errs = append(errs, s.close(deadline))
	}
	w.cancel()
	if w.notify != nil {
		errs = append(errs, w.notify.Close())
	}
	w.loops.Wait()
	return errors.Join(errs...)
}

// post asks the tender to see to a channel. It never blocks: the drainer calls
// it, and the tender may at that moment wait for the drainer.
func (w *Watcher) post(s *Watch, want want) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.postLocked(s, want)
}

func (w *Watcher) postLocked(s *Watch, want want) {
	if s.wants == 0 {
		w.posted = append(w.posted, s)
	}
	s.wants |= want
	w.wakeUp()
}

func (w *Watcher) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
