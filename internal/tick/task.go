package tick

import (
	"fmt"
	"runtime"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// checkTask refuses a run whose tasks this machine could never start: they would wait
// in its queue for a day. What a cluster can start only its scheduler knows.
func (c compute) checkTask(n engine.NewRun) error {
	if c.Kind != kindLocal {
		return nil
	}
	if slots := c.slots(); n.CPUs > slots {
		return wrong(fmt.Sprintf("give --cpus %d at most, or --slots %d to hand out more", slots, n.CPUs),
			"a task of --cpus %d would never start: this machine hands out %d", n.CPUs, slots)
	}
	if gpus, known := c.gpus(); known && n.GPUs > gpus {
		cure := fmt.Sprintf("give --gpus %d at most, or --slot-gpus N where it has more", gpus)
		return wrong(cure, "a task of --gpus %d would never start: this machine hands out %d", n.GPUs, gpus)
	}
	return nil
}

// slots are the CPUs that the one machine hands out.
func (c compute) slots() int {
	if c.CPUs == 0 {
		return runtime.NumCPU()
	}
	return c.CPUs
}

// gpus are the GPUs that the one machine hands out. Where nvidia-smi is there to count
// them that is left to the backend; where it is not there are none.
func (c compute) gpus() (n int, known bool) {
	if c.GPUs >= 0 {
		return c.GPUs, true
	}
	return 0, onPath("nvidia-smi") == ""
}
