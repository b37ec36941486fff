package crash

import (
	"fmt"
	"os"
	"testing"
)

// share says which part of all points a soak takes: the k-th of n, as "k/n".
const share = "OUTERLOOP_CRASH"

// TestKilled kills one of the kernel's processes before one operation that changes the
// state root, each time in a life of its own: in the middle of every kind of operation
// that each process makes, or at every single one where [share] is set.
func TestKilled(t *testing.T) {
	count := newLife(t)
	whole := count.live(aim{})
	count.check("", whole)
	if t.Failed() {
		t.Fatal("a life that nothing befalls is not as it should be")
	}
	aims := chosen(t, whole.Points)
	t.Logf("%d operations, %d of them at which a process is killed", len(whole.Points), len(aims))
	for _, a := range aims {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			r := l.live(a)
			if r.Hit == "" {
				// How often a loop looks is a matter of time.
				t.Logf("the %s made fewer operations %q than %d this time", a.Actor, a.Kind, a.N)
			}
			l.check(a.Actor, r)
			if t.Failed() {
				t.Logf("killed at %s", r.Hit)
			}
		})
	}
}

// chosen are the points of a life that a test strikes.
func chosen(t *testing.T, points []point) []aim {
	t.Helper()
	counts := map[[2]string]int{}
	var all []aim
	for _, p := range points {
		key := [2]string{p.Actor, p.Kind}
		counts[key]++
		all = append(all, aim{Actor: p.Actor, Kind: p.Kind, N: counts[key]})
	}
	part, n := 0, 0
	if set := os.Getenv(share); set != "" {
		if _, err := fmt.Sscanf(set, "%d/%d", &part, &n); err != nil || part < 1 || part > n {
			t.Fatalf("%s is %q; give a part of all points, such as 1/4, or 1/1 for all", share, set)
		}
	}
	var some []aim
	for i, a := range all {
		middle := (counts[[2]string{a.Actor, a.Kind}] + 1) / 2
		if n == 0 && a.N == middle || n > 0 && i%n == part-1 {
			some = append(some, a)
		}
	}
	return some
}
