package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// patience bounds every wait for an answer. No run that passes comes near it.
const patience = time.Minute

// recordedQuestion is the ratio that is reached, above the target. Three
// goroutines take turns in the kernel where C has one thread, and a busy machine
// that puts both its processes on one processor makes C twice as fast.
const recordedQuestion = 2.5

// Question is a question and its answer, asker and watcher in two processes,
// beside the bare ping-pong.
func (l *Lab) Question(ctx context.Context, under string, turns, rounds int) (ours, bare Times, err error) {
	for range turns {
		b, err := l.barePingPong(ctx, under, rounds, 0)
		if err != nil {
			return nil, nil, err
		}
		o, err := l.Ask(ctx, under, rounds)
		if err != nil {
			return nil, nil, err
		}
		ours, bare = append(ours, o...), append(bare, b...)
	}
	return ours, bare, nil
}

// Ask asks so many questions in a fresh channel of a fresh kernel. A session
// that asks more than some thousands in a row is slowed down.
func (l *Lab) Ask(ctx context.Context, under string, rounds int) (times Times, err error) {
	dir, err := os.MkdirTemp(under, "ours-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	kernel, err := l.start(ctx, "kernel", dir, 1)
	if err != nil {
		return nil, err
	}
	defer kernel.end()
	return askIn(workspace(dir, 0), rounds)
}

// askIn asks in one session.
func askIn(workspace string, rounds int) (Times, error) {
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	// The first one places the watches.
	if _, err := s.Ask(context.Background(), "a", patience); err != nil {
		return nil, err
	}
	times := make(Times, rounds)
	for i := range times {
		began := time.Now()
		answer, err := s.Ask(context.Background(), "a", patience)
		times[i] = time.Since(began)
		if err != nil {
			return nil, err
		}
		if string(answer.Data) != benchAnswer {
			return nil, fmt.Errorf("a wrong answer: %q", answer.Data)
		}
	}
	return times, nil
}

// questionRows compares on memory and on disk, and says what polling would take.
func (l *Lab) questionRows(ctx context.Context, o Options) ([]Row, error) {
	var rows []Row
	for _, place := range []struct{ name, dir string }{{"memory", l.Memory}, {"disk", l.Disk}} {
		ours, bare, err := l.Question(ctx, place.dir, o.turns(), 400)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{
			What: "question and answer, " + place.name, Ours: ours.String(), Yardstick: "C ping-pong " + bare.String(),
			Value: ratio(ours.At(0.5), bare.At(0.5)), Target: 1.25, Regressed: 1.5 * recordedQuestion, Unit: "×",
		})
	}
	if o.Short {
		return rows, nil
	}
	detail := "polling, both sides every"
	for _, step := range []time.Duration{time.Second, 2 * time.Second} {
		polled, err := l.barePingPong(ctx, l.Memory, 8, step)
		if err != nil {
			return nil, err
		}
		detail += fmt.Sprintf(" %v: %v;", step, short(polled.At(0.5)))
	}
	rows[0].Detail = detail
	return rows, nil
}
