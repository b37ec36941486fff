package watcher

import (
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// tending is what the tender knows of a channel.
type tending struct {
	busy    sync.Mutex // held while the channel is seen to
	gone    bool       // the watch is closed
	path    string     // that is watched, "" for none
	trusted bool       // events can be relied on alone
	said    string     // what the log was last told of how the channel is looked at
	polling atomic.Bool

	// When something is due, zero for never.
	watchAt, probeBy, checkAt, pollAt, retryAt time.Time

	watchGap  time.Duration // between attempts to watch
	pollGap   time.Duration
	penalty   time.Duration // how long a flood costs the watch
	watchedAt time.Time
}

const (
	probeFile = ".watch"
	// probeWait is how long a probe may take to be announced. On a healthy
	// filesystem that is less than a millisecond; a false alarm on a machine out
	// of breath is mended by the next attempt.
	probeWait = 2 * time.Second
	// checkDelay is how long a removal of the probe is left to become one of the
	// whole directory. Putting the probe back sooner could get in the way.
	checkDelay = 250 * time.Millisecond

	firstMissing = 100 * time.Millisecond // between looks for a channel that is gone
	lastMissing  = 2 * time.Second
	firstRewatch = time.Minute // between attempts to do without polling
	lastRewatch  = 10 * time.Minute
	slowestPoll  = 10 * time.Second
	floodPoll    = 100 * time.Millisecond
	firstPenalty = time.Second
	lastPenalty  = 16 * time.Second
	calmAfter    = 10 * time.Second // without a flood, the next penalty is the first again

	maxPolls = 32 // looks at filesystems without events that are under way at once
)

// see does what is wanted or due, and returns when to come again.
func (s *Watch) see(wants want, now time.Time) time.Time {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.gone {
		return time.Time{}
	}
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	if wants&wantHeard != 0 {
		s.believe(now)
	}
	if wants&wantCheck != 0 && s.path != "" {
		s.checkAt = now.Add(checkDelay)
	}
	switch {
	case wants&wantCalm != 0:
		s.calm(now)
	case wants&wantWatch != 0 || due(s.watchAt) || due(s.checkAt):
		s.watch(now)
	case wants&wantProbe != 0 && s.path != "" && s.probeBy.IsZero():
		s.probeAgain(now)
	case due(s.probeBy):
		s.unwatch()
		s.poll(now, "file events are accepted here and never come", nil)
	}
	if due(s.pollAt) {
		s.pollOnce(now)
	}
	if due(s.retryAt) {
		s.retryAt = time.Time{}
		s.look()
	}
	if wants&wantRetry != 0 {
		s.retryAt = s.nextRetry()
	}
	next := sooner(sooner(s.watchAt, s.probeBy), sooner(s.checkAt, s.pollAt))
	return sooner(next, s.retryAt)
}

// believe ends the probing: events come.
func (s *Watch) believe(now time.Time) {
	if s.path == "" || s.probeBy.IsZero() {
		return
	}
	s.probeBy, s.watchGap = time.Time{}, 0
	s.trusted = s.w.local(s.path)
	if s.trusted {
		s.say("", nil)
		return
	}
	s.pollGap = s.w.opts.Poll
	s.pollAt = now.Add(jitter(s.pollGap))
	s.say("the filesystem may be shared with other machines, which it announces nothing of", nil)
}

// poll looks at the channel now and then from here on, and tries to watch it
// again much later.
func (s *Watch) poll(now time.Time, reason string, err error) {
	s.watchGap = min(max(2*s.watchGap, firstRewatch), lastRewatch)
	s.watchAt = now.Add(s.watchGap)
	s.pollGap = s.w.opts.Poll
	s.pollAt = now
	s.say(reason, err)
}

// calm takes the watch from a channel that floods: its events would delay, and
// in the end push out, those of all others. It is looked at ten times a second
// instead, and answered once a look.
func (s *Watch) calm(now time.Time) {
	relapse := s.penalty > 0 && now.Sub(s.watchedAt) < calmAfter
	s.unwatch()
	if relapse {
		s.penalty = min(2*s.penalty, lastPenalty)
	} else {
		s.penalty = firstPenalty
	}
	s.watchAt = now.Add(s.penalty)
	s.pollGap = floodPoll
	s.pollAt = now.Add(floodPoll)
}

// flood has the channel calmed.
func (s *Watch) flood(reason string) {
	if s.paced.Swap(true) {
		return
	}
	s.log().Info("a session floods its channel, looking at it less", "reason", reason)
	s.w.post(s, wantCalm)
}

// pollOnce looks at the channel in a goroutine of its own: a filesystem that
// hangs must not hold up the tender.
func (s *Watch) pollOnce(now time.Time) {
	switch {
	case s.paced.Load():
		s.pollGap = floodPoll
	case s.asked.Swap(false):
		s.pollGap = s.w.opts.Poll
	default:
		s.pollGap = min(2*s.pollGap, max(slowestPoll, s.w.opts.Poll))
	}
	s.pollAt = now.Add(jitter(s.pollGap))
	if s.path != "" && now.Sub(s.watchedAt) > firstRewatch {
		// Nothing may have told that the directory was replaced from elsewhere.
		s.watch(now)
		return
	}
	if s.polling.Load() || !s.begin() {
		return
	}
	select {
	case s.w.polls <- struct{}{}:
	default: // as many as may be hang or work already; the next time, then
		s.end()
		return
	}
	s.polling.Store(true)
	unwatched := s.path == ""
	go func() {
		defer s.end()
		defer func() { <-s.w.polls }()
		defer s.polling.Store(false)
		if unwatched {
			s.kernel.Refresh() // a channel that is gone has no questions either
		}
		if s.look() && !unwatched {
			s.w.post(s, wantProbe)
		}
	}()
}

// probeAgain asks the filesystem once more whether events come: a poll has found what
// they should have announced. That may only be on its way, or come from another machine;
// a filesystem that has fallen silent is polled from then on.
func (s *Watch) probeAgain(now time.Time) {
	s.heard.Store(false)
	s.probeBy = now.Add(probeWait)
	if err := s.probe(); err != nil {
		s.log().Debug("the probe could not be written", "error", err)
	}
}

// nextRetry is when the first of the questions that could not be answered is
// to be tried again.
func (s *Watch) nextRetry() (next time.Time) {
	for _, q := range s.verbs {
		q.mu.Lock()
		next = sooner(next, q.retry.next)
		q.mu.Unlock()
	}
	return next
}

// say tells the log how the channel is looked at, when that has changed.
func (s *Watch) say(what string, err error) {
	if s.said == what {
		return
	}
	s.said = what
	log := s.log()
	switch {
	case what == "":
		log.Info("the channel is watched by file events alone again")
	case err != nil:
		log.Warn(what, "error", err)
	default:
		log.Warn(what, "poll", s.w.opts.Poll)
	}
}

// log is the log with the channel's name: where the directory that is held
// stands now. It is for people only.
func (s *Watch) log() *slog.Logger {
	name, err := os.Readlink(s.kernel.WatchPath())
	if err != nil {
		name = s.kernel.WatchPath()
	}
	return s.w.opts.Log.With("channel", name)
}

// jitter spreads what would otherwise fall on one moment for all channels.
func jitter(d time.Duration) time.Duration {
	var b [1]byte
	rand.Read(b[:])
	return d - d/8*time.Duration(b[0])/256
}
