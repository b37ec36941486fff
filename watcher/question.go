package watcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// question is one verb in one channel. At most one goroutine answers it, and
// only while something was asked.
type question struct {
	watch   *Watch
	verb    string
	handler Handler

	// placing is held by whoever puts an answer in place.
	placing sync.Mutex

	mu      sync.Mutex
	running bool // there is a goroutine
	again   bool // look once more before it ends
	turns   int  // how often the handler was called
	busy    bool // the handler is being called
	late    bool // it has outstayed its time and was answered for
	retry   backoff

	excusing bool // a goroutine answers for the late handler
}

// poke says that something may have been asked. It does not block.
func (q *question) poke() {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.running && q.late:
		q.again = true
		q.excusing = q.excusing || q.spawn(q.excuse)
	case q.running:
		q.again = true
	case q.retry.waiting(time.Now()):
		// Writing failed a moment ago. The tender pokes again when it is time.
	default:
		q.running = q.spawn(q.run)
	}
}

func (q *question) spawn(run func()) bool {
	if !q.watch.begin() {
		return false
	}
	go func() {
		defer q.watch.end()
		run()
	}()
	return true
}

// run answers until nothing is pending.
func (q *question) run() {
	for n := 1; ; n++ {
		stamp, pending, err := q.watch.kernel.Pending(q.verb)
		if err != nil {
			q.failed(err)
			return
		}
		if !pending {
			if q.rest() {
				return
			}
			continue
		}
		q.watch.asked.Store(true)
		if !q.answer(stamp) {
			return
		}
		if n == answersInARow {
			q.watch.flood("questions do not wait for their answers")
		}
		if q.watch.paced.Load() {
			q.stop()
			return
		}
	}
}

// rest ends the run unless somebody poked meanwhile.
func (q *question) rest() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.again {
		q.again = false
		return false
	}
	q.running = false
	return true
}

func (q *question) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running, q.again = false, false
}

// answer answers the question with that stamp, and is false when the run is
// over: because the watch was closed, or the answer could not be written.
func (q *question) answer(stamp channel.Stamp) bool {
	answer, inTime := q.ask()
	if !inTime {
		return true
	}
	err := q.place(stamp, answer)
	if err != nil {
		q.failed(err)
		return false
	}
	q.mu.Lock()
	q.retry.reset()
	q.mu.Unlock()
	if q.watch.pace.answered(time.Now(), len(answer)) {
		q.watch.flood("more questions than are answered at full speed")
	}
	return true
}

// ask has the handler answer and is false when that took too long, in which
// case the question was answered with an error meanwhile.
func (q *question) ask() (answer []byte, inTime bool) {
	timeout := q.timeout()
	ctx, cancel := context.WithTimeout(q.watch.ctx, timeout)
	defer cancel()
	q.mu.Lock()
	q.turns++
	turn := q.turns
	q.busy = true
	q.mu.Unlock()
	// A handler that heeds its context gets a moment to say itself what it was
	// waiting for.
	overdue := time.AfterFunc(timeout+timeout/8, func() { q.overdue(turn) })
	answer = q.handle(ctx)
	overdue.Stop()

	q.mu.Lock()
	inTime, q.busy = !q.late, false
	q.mu.Unlock()
	if !inTime {
		// Whoever answers in the handler's stead may be writing at this moment, and
		// must not put an older stamp over the one that is answered next.
		q.placing.Lock()
		defer q.placing.Unlock()
		q.mu.Lock()
		defer q.mu.Unlock()
		q.late = false
	}
	return answer, inTime
}

// handle calls the handler and makes an answer of whatever it does.
func (q *question) handle(ctx context.Context) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			q.watch.log().Error("a handler panicked", "verb", q.verb, "panic", p, "stack", string(debug.Stack()))
			answer = errorAnswer(errors.New("the kernel failed over this question; its operator finds the cause in the log"))
		}
	}()
	v, err := q.handler(ctx)
	if err == nil {
		answer, err = encode(v)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = q.tooSlow()
		}
		return errorAnswer(err)
	}
	return answer
}

// timeout is how long the handler may take.
func (q *question) timeout() time.Duration {
	return cmp.Or(q.watch.w.opts.Timeouts[q.verb], q.watch.w.opts.Timeout)
}

func (q *question) tooSlow() error {
	return fmt.Errorf("what was asked could not be learned within %v; try again in a minute", q.timeout())
}

// overdue answers for a handler that has not returned in time.
func (q *question) overdue(turn int) {
	if !q.watch.begin() {
		return
	}
	defer q.watch.end()
	q.placing.Lock()
	defer q.placing.Unlock()
	q.mu.Lock()
	if !q.busy || q.turns != turn {
		q.mu.Unlock()
		return // it has returned just now
	}
	q.late = true
	q.mu.Unlock()
	q.watch.log().Error("a handler does not return", "verb", q.verb, "after", q.timeout())
	q.standIn(q.tooSlow())
}

// excuse answers a question that came while the handler is still busy with one
// that it will not answer any more.
func (q *question) excuse() {
	q.placing.Lock()
	defer q.placing.Unlock()
	q.mu.Lock()
	late := q.late
	q.excusing = false
	q.mu.Unlock()
	if late { // else it has returned, and looks again by itself
		q.standIn(errors.New("an earlier question of this kind still hangs; try again in a minute"))
	}
}

// standIn answers whatever is pending with an error, in a late handler's stead.
// That is not always the question the handler was called for: a marker that is
// made and then touched is two questions to a watcher that is quick, and the
// asker waits for the second one's stamp.
func (q *question) standIn(reason error) {
	stamp, pending, err := q.watch.kernel.Pending(q.verb)
	if err != nil || !pending {
		return
	}
	if q.put(stamp, errorAnswer(reason)) == nil && q.watch.pace.answered(time.Now(), 0) {
		q.watch.flood("more questions than are answered at full speed")
	}
}

// place puts an answer where the session finds it.
func (q *question) place(stamp channel.Stamp, answer []byte) error {
	q.placing.Lock()
	defer q.placing.Unlock()
	return q.put(stamp, answer)
}

func (q *question) put(stamp channel.Stamp, answer []byte) error {
	return q.watch.write(func() error { return q.watch.kernel.Answer(q.verb, stamp, answer) })
}

// failed ends the run. The question stands; unless the watch is closed it is
// tried again, ever less often: a full disk or a planted directory stays for a
// while.
func (q *question) failed(err error) {
	q.mu.Lock()
	q.running, q.again = false, false
	closed := errors.Is(err, context.Canceled) || q.watch.ctx.Err() != nil
	first := false
	if !closed {
		first = q.retry.fail(time.Now())
	}
	q.mu.Unlock()
	if closed {
		return
	}
	if first {
		q.watch.log().Warn("a question could not be answered, trying again", "verb", q.verb, "error", err)
	}
	q.watch.w.post(q.watch, wantRetry)
}
