package attack

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Outcomes counts what became of the rounds of a race. It may be used by
// several goroutines.
type Outcomes struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add counts one.
func (o *Outcomes) Add(outcome string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[outcome]++
}

// Seen says whether each of the outcomes has occurred.
func (o *Outcomes) Seen(outcomes ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range outcomes {
		if o.counts[name] == 0 {
			return false
		}
	}
	return true
}

// Require fails the test unless each of the outcomes has occurred and no other
// has, and logs how often each did.
func (o *Outcomes) Require(t testing.TB, outcomes ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	t.Logf("outcomes: %v", o.counts)
	rest := len(o.counts)
	for _, name := range outcomes {
		if o.counts[name] == 0 {
			t.Errorf("never saw %q: the race was not run", name)
			continue
		}
		rest--
	}
	if rest > 0 {
		t.Errorf("outcomes other than %q", outcomes)
	}
}

// Rounds is how many rounds a race is to run: the number given, or what
// OUTERLOOP_SOAK says, as make soak sets it.
func Rounds(t testing.TB, ordinary int) int {
	t.Helper()
	return Share(t, ordinary, 1)
}

// Share is Rounds where several tests of one kind share those of a soak.
func Share(t testing.TB, ordinary, tests int) int {
	t.Helper()
	text := os.Getenv("OUTERLOOP_SOAK")
	if text == "" {
		return ordinary
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("OUTERLOOP_SOAK=%q is no number of rounds", text)
	}
	return max(ordinary, n/tests)
}

// Descriptors is how many open descriptors of this process lead to one of the
// places or below.
func Descriptors(t testing.TB, places ...string) int {
	t.Helper()
	const proc = "/proc/self/fd"
	entries, err := os.ReadDir(proc)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(proc, e.Name()))
		if err != nil {
			continue // it was the one that reads the directory
		}
		for _, place := range places {
			if target == place || strings.HasPrefix(target, place+"/") {
				n++
			}
		}
	}
	return n
}
