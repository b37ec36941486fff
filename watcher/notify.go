package watcher

import (
	"errors"
	"path"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// notifier is what the watcher needs of fsnotify. Tests put in its place one
// that is silent or full.
type notifier interface {
	Add(path string) error
	Remove(path string) error
	Close() error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
}

type fsNotifier struct{ *fsnotify.Watcher }

func (n fsNotifier) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n fsNotifier) Errors() <-chan error          { return n.Watcher.Errors }

func newNotifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fsNotifier{w}, nil
}

// drain takes events and errors until both channels close. It must never wait
// for anything else: fsnotify sends errors while it holds the lock that Add,
// Remove and Close need, so whoever calls those waits for this goroutine.
func (w *Watcher) drain() {
	events, errs := w.notify.Events(), w.notify.Errors()
	for events != nil || errs != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.event(event)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.lost(err)
		}
	}
}

// event acts on one event, which only ever means "look again".
func (w *Watcher) event(e fsnotify.Event) {
	dir, file := path.Split(e.Name)
	w.mu.Lock()
	s := w.paths[strings.TrimSuffix(dir, "/")]
	itself := false
	if s == nil {
		s = w.paths[e.Name]
		itself = true
	}
	w.mu.Unlock()
	if s == nil {
		return // of a watch that was given up
	}
	if s.pace.event(time.Now()) {
		s.flood("files change faster than anybody could ask")
	}
	gone := e.Has(fsnotify.Remove | fsnotify.Rename)
	switch {
	case itself && gone:
		// Moved or removed. fsnotify has dropped the watch.
		w.post(s, wantWatch)
	case itself:
	case file == probeFile && gone:
		w.post(s, wantCheck)
	case file == probeFile:
		if !s.heard.Swap(true) {
			w.post(s, wantHeard)
		}
	default:
		verb, isRequest := strings.CutSuffix(file, "-request")
		if q := s.verbs[verb]; isRequest && q != nil {
			q.poke()
		}
	}
}

// lost acts on an error of the event source.
func (w *Watcher) lost(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.opts.Log.Warn("file events failed, looking at every channel", "error", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = true
	w.wakeUp()
}
