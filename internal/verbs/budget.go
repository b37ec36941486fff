package verbs

import (
	"fmt"
	"strconv"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// checkBudget refuses what the kernel would refuse as a whole later, launches
// and all. Where no budget can be read there is nothing to go by, and the
// kernel decides.
func (c *call) checkBudget(s *channel.Session, launches []channel.Launch) error {
	b, ok, err := s.Budget()
	if !ok || err != nil {
		return nil
	}
	if n := len(launches); n > b.Launches {
		cure := "run what is staged with syscall-sleep; one launch with --array counts once"
		if b.Launches < n-1 || b.Launches == 0 {
			cure = "discard what is staged with syscall-cancel; a note and a submit need no launches"
		}
		return failed(cure, "%s staged would exceed the budget: %s left in this run",
			render.Count(n, "launch"), render.Count(b.Launches, "launch"))
	}
	gpus, known := c.taskGPUs()
	if hours := gpuHours(launches, gpus); known && b.GPUHours != nil && hours > *b.GPUHours {
		return failed("give fewer --minutes or a smaller --array, or run what is staged before it with syscall-sleep: what jobs do not take comes back",
			"%.2f GPU hours staged would exceed the budget: %.2f left in this run", hours, *b.GPUHours)
	}
	return nil
}

// taskGPUs is how many GPUs each task of a launch gets, where the kernel says so.
func (c *call) taskGPUs() (gpus int, known bool) {
	gpus, err := strconv.Atoi(c.getenv("OUTERLOOP_TASK_GPUS"))
	return gpus, err == nil && gpus >= 0
}

// gpuHours is what launches may take at most, and are charged until they are over.
func gpuHours(launches []channel.Launch, gpus int) float64 {
	minutes := 0
	for i := range launches {
		minutes += launches[i].Minutes * launches[i].Array
	}
	return float64(minutes*gpus) / 60
}

// cost is what launches will take from a budget, in words.
func (c *call) cost(b channel.Budget, launches []channel.Launch) string {
	words := render.Count(len(launches), "launch")
	gpus, known := c.taskGPUs()
	switch {
	case b.GPUHours == nil:
	case known:
		words += fmt.Sprintf(" and %.2f GPU hours", gpuHours(launches, gpus))
	default:
		words += fmt.Sprintf(" and %.2f GPU hours for each GPU that a task gets", gpuHours(launches, 1))
	}
	return words
}

// sayCost says what the last of the launches that are staged will take from the budget,
// and what all of them will. Where no budget can be read there is none to take from.
func (c *call) sayCost(s *channel.Session, staged []channel.Launch) {
	b, ok, err := s.Budget()
	last := len(staged) - 1
	if !ok || err != nil || last < 0 {
		return
	}
	all := ""
	if last > 0 {
		all = "; with what was staged before: " + c.cost(b, staged)
	}
	c.say("Cost: %s%s.", c.cost(b, staged[last:]), all)
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
