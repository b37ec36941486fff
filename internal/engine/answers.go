package engine

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/watcher"
)

// Answers says how often a verb was answered and how long that took, from the
// question being read to its answer being known.
type Answers struct {
	Count   int     `json:"count"`
	Failed  int     `json:"failed"` // of these, whose answer is an error
	Seconds float64 `json:"seconds"`
}

// add is the sum of both.
func (a Answers) add(b Answers) Answers {
	return Answers{a.Count + b.Count, a.Failed + b.Failed, a.Seconds + b.Seconds}
}

// answersFile holds the answers of a leg by verb, once its watcher is closed.
const answersFile = "answers.json"

// answersTally counts the answers of one leg.
type answersTally struct {
	mu     sync.Mutex
	byVerb map[string]Answers
}

// count makes handlers that count.
func (t *answersTally) count(handlers map[string]watcher.Handler) map[string]watcher.Handler {
	t.byVerb = make(map[string]Answers)
	counting := make(map[string]watcher.Handler, len(handlers))
	for verb, handler := range handlers {
		counting[verb] = func(ctx context.Context) (any, error) {
			began := time.Now()
			answer, err := handler(ctx)
			one := Answers{Count: 1, Seconds: time.Since(began).Seconds()}
			if err != nil {
				one.Failed = 1
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			t.byVerb[verb] = t.byVerb[verb].add(one)
			return answer, err
		}
	}
	return counting
}

// save adds what was counted to what an earlier process of the same leg has. Only
// figures depend on it, so that a leg whose process is killed may lose its own.
func (t *answersTally) save(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byVerb) == 0 {
		return nil
	}
	var before map[string]Answers
	if err := readJSON(path, &before); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for verb, a := range before {
		t.byVerb[verb] = t.byVerb[verb].add(a)
	}
	return writeJSON(path, t.byVerb)
}
