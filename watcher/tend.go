package watcher

import (
	"time"
)

// want is what the tender is to do about a channel.
type want uint8

const (
	wantWatch want = 1 << iota // watch it, anew if it was watched
	wantCheck                  // its directory may be about to go
	wantHeard                  // the probe was announced
	wantProbe                  // a question was found that no event had announced
	wantRetry                  // an answer could not be written
	wantCalm                   // it floods
)

// overflowPause is the least time between two looks at everything. While events
// are lost in one stretch, one look at its end is what counts.
const overflowPause = 250 * time.Millisecond

// tend is the one goroutine that places and removes watches and that looks at
// channels which no event will announce. While every channel is watched and
// heard it has no timer running and sleeps for good.
func (w *Watcher) tend() {
	due := make(map[*Watch]time.Time)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var lastSweep time.Time
	for {
		posted, dropped := w.take()
		for s, wants := range posted {
			s.setDue(due, s.see(wants, time.Now()))
		}
		now := time.Now()
		for s, at := range due {
			if !at.After(now) {
				s.setDue(due, s.see(0, now))
			}
		}
		next := earliest(due)
		if dropped {
			if at := lastSweep.Add(overflowPause); at.After(now) {
				w.putBack()
				next = sooner(next, at)
			} else {
				w.renewAll(due)
				lastSweep = time.Now()
				next = earliest(due)
			}
		}
		if !next.IsZero() {
			timer.Reset(max(time.Until(next), time.Millisecond))
		} else {
			timer.Stop()
		}
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// take returns what was posted since the last time.
func (w *Watcher) take() (posted map[*Watch]want, dropped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	posted = make(map[*Watch]want, len(w.posted))
	for _, s := range w.posted {
		posted[s], s.wants = s.wants, 0
	}
	clear(w.posted)
	w.posted = w.posted[:0]
	dropped, w.dropped = w.dropped, false
	return posted, dropped
}

// putBack remembers that events were lost, for when it is time to act on it.
func (w *Watcher) putBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = true
}

// renewAll sees to every channel after events were lost.
func (w *Watcher) renewAll(due map[*Watch]time.Time) {
	w.opts.Log.Info("file events were lost, looking at every channel")
	w.mu.Lock()
	all := make([]*Watch, 0, len(w.watches))
	for s := range w.watches {
		all = append(all, s)
	}
	w.mu.Unlock()
	for _, s := range all {
		s.setDue(due, s.renew(time.Now()))
	}
}

func (s *Watch) setDue(due map[*Watch]time.Time, next time.Time) {
	if next.IsZero() {
		delete(due, s)
	} else {
		due[s] = next
	}
}

func earliest(due map[*Watch]time.Time) (next time.Time) {
	for _, at := range due {
		next = sooner(next, at)
	}
	return next
}

// sooner is the earlier of two times, of which the zero one is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
