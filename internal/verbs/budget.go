package verbs

import (
	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// checkBudget refuses what the kernel would refuse as a whole later, launches
// and all. Where no budget can be read there is nothing to go by, and the
// kernel decides.
func checkBudget(s *channel.Session, launches int) error {
	b, ok, err := s.Budget()
	if !ok || err != nil || launches <= b.Launches {
		return nil
	}
	cure := "run what is staged with syscall-sleep; one launch with --array counts once"
	if b.Launches < launches-1 || b.Launches == 0 {
		cure = "discard what is staged with syscall-cancel; a note and a submit need no launches"
	}
	return failed(cure, "%s staged would exceed the budget: %s left in this run",
		render.Count(launches, "launch"), render.Count(b.Launches, "launch"))
}

// budgetLine is what is left, for the end of a verb's output.
func budgetLine(s *channel.Session) string {
	b, ok, err := s.Budget()
	switch {
	case err != nil:
		return "Budget: unknown (" + err.Error() + ")."
	case !ok:
		return "Budget: none was set."
	}
	return render.Budget(b)
}
