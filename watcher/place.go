package watcher

import (
	"errors"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// watch places a watch on the directory that the channel's name leads to now,
// probes it, and looks.
func (s *Watch) watch(now time.Time) {
	if s.polling.Load() {
		// A look that is under way may open the directory anew, and the path below
		// would lead to nowhere, or worse, to another channel's directory.
		s.watchAt = now.Add(floodPoll)
		return
	}
	if !s.hold(now) {
		return
	}
	s.paced.Store(false)
	s.trusted = false
	if !s.place(now) {
		return
	}
	s.probeAgain(now)
	// Only now: what is asked from here on makes an event.
	s.look()
}

// hold gives the watch up and has the kernel half hold the directory that is
// the channel now. The order matters: a watch goes by the number of the
// descriptor, and a number that is free is soon another channel's.
func (s *Watch) hold(now time.Time) bool {
	s.unwatch()
	_, err := s.kernel.Refresh()
	if err == nil {
		return true
	}
	s.watchGap = min(max(2*s.watchGap, firstMissing), lastMissing)
	s.watchAt = now.Add(s.watchGap)
	if errors.Is(err, channel.ErrNoChannel) {
		s.say("the channel is gone, waiting for a new one", err)
	} else {
		s.say("the channel cannot be opened, trying again", err)
	}
	return false
}

// place puts a watch on the directory that is held.
func (s *Watch) place(now time.Time) bool {
	if s.w.notify == nil {
		s.poll(now, "there are no file events", nil)
		return false
	}
	s.path, s.watchedAt = s.kernel.WatchPath(), now
	s.w.mu.Lock()
	s.w.paths[s.path] = s
	s.w.mu.Unlock()
	if err := s.w.notify.Add(s.path); err != nil {
		s.unwatch()
		s.poll(now, "no file events are to be had", err)
		return false
	}
	return true
}

// renew is watch for when events were lost, among them maybe that the directory
// was moved. It does without a probe: ten thousand probes would be lost again.
func (s *Watch) renew(now time.Time) time.Time {
	s.busy.Lock()
	if !s.gone && s.path != "" {
		probeBy, trusted, pollAt := s.probeBy, s.trusted, s.pollAt
		if s.hold(now) && s.place(now) {
			s.probeBy, s.trusted, s.pollAt = probeBy, trusted, pollAt
			s.look()
		}
	}
	s.busy.Unlock()
	return s.see(0, now)
}

// unwatch gives the watch up, and everything that was due about it.
func (s *Watch) unwatch() {
	s.watchAt, s.probeBy, s.checkAt, s.pollAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	if s.path == "" {
		return
	}
	s.w.mu.Lock()
	if s.w.paths[s.path] == s {
		delete(s.w.paths, s.path)
	}
	s.w.mu.Unlock()
	// It fails where the directory is gone already, and then there is nothing to do.
	s.w.notify.Remove(s.path)
	s.path = ""
}

func (s *Watch) unwatchForGood() {
	s.busy.Lock()
	defer s.busy.Unlock()
	s.gone = true
	s.unwatch()
}

// probe puts a file into the channel whose event shows that events come.
func (s *Watch) probe() error {
	return s.write(func() error {
		dir, err := dirfd.Open(s.path)
		if err != nil {
			return err
		}
		defer dir.Close()
		return dir.Publish(probeFile, nil, dirfd.Volatile)
	})
}
