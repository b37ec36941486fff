package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Answer is what came back on a question.
type Answer struct {
	Data   []byte // the answer file, at most [MaxAnswerBytes]
	Polled bool   // it was found without a file event: the filesystem has none, or is silent
}

// Ask leaves a question and waits for its answer. It is woken by the file
// event that the answer makes, and looks by itself now and then where there are
// no events. With a wait of 0 it leaves the question and looks once.
//
// The error says only whether there is an answer. A kernel that could not learn
// what was asked answers {"at": …, "error": "…"}, which is an answer like any
// other: the error is nil, and the caller looks for "error" in the data.
//
// To [SyncVerb] the marker alone is an answer too, of no data.
//
// The error is [ErrNoAnswer] when the wait is over, the context's when that
// ended first, and otherwise says what is wrong with the channel.
func (s *Session) Ask(ctx Canceler, verb string, wait time.Duration) (Answer, error) {
	if err := CheckVerb(verb); err != nil {
		return Answer{}, err
	}
	deadline := time.Now().Add(wait)
	// A watch that a session has already stands before the question does.
	waiter := s.takeWaiter()
	stood := waiter != nil && wait > 0 // and will tell: what is looked for cannot be there yet
	defer func() { s.keepWaiter(waiter) }()
	stamp, err := s.leave(ctx, verb)
	if err != nil {
		return Answer{}, fmt.Errorf("leaving the question: %w", err)
	}
	if waiter == nil {
		data, err := s.quickLooks(ctx, verb, stamp, deadline)
		if data != nil || err != nil {
			return Answer{Data: data}, err
		}
		waiter, _ = dirfd.NewWaiter(s.dir) // without one the looks below find it
	}
	polled := false // the first look is for what came before the watch stood
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if !stood {
			if data, err := s.look(verb, stamp); data != nil || err != nil {
				return Answer{data, polled}, err
			}
		}
		stood = false
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		now := time.Now()
		if !now.Before(deadline) {
			return Answer{}, ErrNoAnswer
		}
		next := now.Add(pause)
		if next.After(deadline) {
			next = deadline
		}
		polled = !s.await(ctx, waiter, doneMarker(verb), next)
	}
}

// look returns the answer once it is there, and nil before.
func (s *Session) look(verb string, stamp Stamp) ([]byte, error) {
	if s.done(verb) < stamp {
		return nil, nil
	}
	data, err := s.dir.ReadSmall(answerFile(verb), MaxAnswerBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if verb == SyncVerb {
			return []byte{}, nil
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return data, nil
}

// quickTime is how long a session looks before it places a watch. A watcher that
// is there has answered by then, and a watch is dear for one question: Linux
// takes 10 to 20 ms to give it up (fsnotify_destroy_group waits for a grace
// period of RCU), which a program spends at its exit.
const quickTime = 3 * time.Millisecond

// quickLooks looks for the answer at pauses that grow with the time gone by.
func (s *Session) quickLooks(ctx Canceler, verb string, stamp Stamp, deadline time.Time) ([]byte, error) {
	start := time.Now()
	for pause := 50 * time.Microsecond; ; pause += pause / 2 {
		data, err := s.look(verb, stamp)
		now := time.Now()
		if data != nil || err != nil || ctx.Err() != nil || now.Sub(start) > quickTime || !now.Before(deadline) {
			return data, err
		}
		dirfd.Pause(pause)
	}
}

// takeWaiter returns a watch that an earlier question has left, nil where there
// is none. From its second question on a session keeps what it has placed.
func (s *Session) takeWaiter() *dirfd.Waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.waiters); n > 0 {
		w := s.waiters[n-1]
		s.waiters = s.waiters[:n-1]
		return w
	}
	if !s.asked {
		s.asked = true
		return nil
	}
	w, _ := dirfd.NewWaiter(s.dir)
	return w
}

// keepWaiter takes back a watch for the next question.
func (s *Session) keepWaiter(w *dirfd.Waiter) {
	if w == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		w.Close()
		return
	}
	s.waiters = append(s.waiters, w)
}

// Between looks that no event asked for. They cost a verb nearly nothing and
// are what an answer on a filesystem without events is found by.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = time.Second
)

// await waits for a file event or the time, and says whether an event came.
func (s *Session) await(ctx Canceler, w *dirfd.Waiter, file string, until time.Time) bool {
	if w != nil {
		if err := w.Wait(ctx, file, until); err == nil {
			return time.Now().Before(until)
		}
	}
	over := make(chan struct{}) // not a timer's channel, see Canceler
	defer time.AfterFunc(time.Until(until), func() { close(over) }).Stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
	return false
}

// done is what the kernel has answered so far.
func (s *Session) done(verb string) Stamp { return readDone(s.dir, verb) }

func readDone(dir *dirfd.Dir, verb string) Stamp {
	raw, err := dir.ReadSmall(doneMarker(verb), maxStampBytes)
	if err != nil {
		return 0
	}
	return ParseStamp(raw)
}

// leave touches the request marker and returns the stamp to be answered. The
// stamp is greater than every one before it, or an old answer would be taken
// for this one's, and the marker never moves backwards, or a question that
// another process has just left would never be answered.
func (s *Session) leave(ctx Canceler, verb string) (stamp Stamp, err error) {
	err = s.locked(ctx, func() error {
		last, before := s.lastMark(verb)
		if before >= maxStamp {
			return refuseMarkers(verb)
		}
		// The filesystem's clock may be some milliseconds behind time.Now: a
		// marker that recent is stepped past instead of touched.
		if StampOf(time.Now().Add(-clockLag)) > before {
			kept, err := s.dir.Touch(requestMarker(verb), time.Time{})
			if stamp = StampOf(kept); err != nil || stamp > before {
				return err
			}
		}
		for _, step := range markerSteps {
			kept, err := s.dir.Touch(requestMarker(verb), last.Add(step))
			if stamp = StampOf(kept); err != nil || stamp > before {
				return err
			}
		}
		return refuseMarkers(verb)
	})
	return stamp, err
}

func refuseMarkers(verb string) error {
	return refuse("", "remove "+doneMarker(verb)+" and "+requestMarker(verb)+" from the channel and ask again",
		"the markers of %s stand at a time that cannot be passed", verb)
}

// clockLag is more than the tick of the kernel's coarse clock, by which
// filesystems stamp: at most 10 ms, at CONFIG_HZ=100.
const clockLag = 20 * time.Millisecond

// markerSteps are the steps by which a marker is moved on, the least that makes
// a new stamp first: one unit in the last place of a double is 238 ns until
// 2038 and 477 ns after, ext4 and tmpfs keep nanoseconds, some network filesystems 100 ns,
// HFS+ seconds, FAT two.
var markerSteps = [...]time.Duration{
	250 * time.Nanosecond, 500 * time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, 2 * time.Second,
}

// lastMark is the latest of what was asked and what was answered.
func (s *Session) lastMark(verb string) (time.Time, Stamp) {
	var at time.Time
	var stamp Stamp
	if st, err := s.dir.Lstat(requestMarker(verb)); err == nil {
		at, stamp = st.ModTime, StampOf(st.ModTime)
	}
	if done := s.done(verb); done > stamp {
		at, stamp = done.time(), done
	}
	return at, stamp
}
