package watcher

import (
	"sync"
	"time"
)

// pace tells a session that asks from one that floods. It counts two things,
// and [question.run] a third: answers in a row that each found the next question
// there already, which somebody who waits for an answer does not leave.
//
// Events that no answer came of: an honest question makes two events and its
// answer eight, so every answer excuses twelve. A session that touches files in
// a loop makes 150,000 a second, and has used up a window's worth within
// milliseconds.
//
// Answers: a session that asks, waits for the answer and asks again makes no
// idle event, and one may do that as fast as it can for a while. In the long
// run it gets a number of answers a second that costs a small part of a core.
type pace struct {
	mu sync.Mutex

	window time.Time // when counting began
	idle   int       // events in the window that no answer came of

	spent float64 // answers not yet paid back
	paid  time.Time
}

const (
	windowLength   = 100 * time.Millisecond
	maxIdleEvents  = 500 // in one window
	eventsPerAsk   = 12
	answersInARow  = 200
	answersAtOnce  = 8192
	answersASecond = 500
	bytesPerAnswer = 64 << 10 // a large answer counts as so many small ones
)

// event counts a file event and says whether there are too many.
func (p *pace) event(now time.Time) (flood bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.window) > windowLength {
		p.window, p.idle = now, 0
	}
	p.idle++
	if p.idle > maxIdleEvents {
		p.idle = 0
		return true
	}
	return false
}

// answered counts an answer and says whether there are too many.
func (p *pace) answered(now time.Time, size int) (flood bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = max(p.idle-eventsPerAsk, 0)
	p.spent = max(p.spent-answersASecond*now.Sub(p.paid).Seconds(), 0)
	p.paid = now
	p.spent += 1 + float64(size/bytesPerAnswer)
	return p.spent > answersAtOnce
}

// backoff spaces attempts that fail.
type backoff struct {
	gap  time.Duration
	next time.Time
}

const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// fail notes a failure and says whether it is the first in a row.
func (b *backoff) fail(now time.Time) (first bool) {
	first = b.gap == 0
	b.gap = min(max(2*b.gap, firstRetry), lastRetry)
	b.next = now.Add(b.gap)
	return first
}

func (b *backoff) reset() { *b = backoff{} }

func (b *backoff) waiting(now time.Time) bool { return now.Before(b.next) }
