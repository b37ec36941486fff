package seal

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestOrphanedRulesEnd: the system ends a git whose kernel was killed while the
// rules kept it busy, and until then it holds no lock.
func TestOrphanedRulesEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, Limits{})
	g := r.store.git
	g.Held = must(r.store.lock(t.Context()))(t)
	rules := must(newRules(g, 5*time.Second))(t)
	defer rules.close()
	check(t, rules.add("", []byte("x\n")))
	must(rules.ignored(t.Context(), "", []entry{{untrustedName: "x"}}))(t)
	limits := must(os.ReadFile(fmt.Sprintf("/proc/%d/limits", rules.cmd.Process.Pid)))(t)
	if !regexp.MustCompile(`(?m)^Max cpu time +7 +7 `).Match(limits) {
		t.Errorf("%s", limits)
	}
	check(t, g.Held.Close())
	must(r.store.lock(t.Context()))(t).Close()
}
