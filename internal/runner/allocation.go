package runner

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/outerloop-go/outerloop/slurm"
)

// Allocation is what the scheduler gave to this process.
type Allocation struct {
	ID      string  // of the job or task, the same again after a requeue
	Task    int     // of a sweep, from 0; -1 for a job that is no sweep's
	Devices *string // CUDA_VISIBLE_DEVICES, nil where the scheduler has not set it
}

// ReadAllocation reads it from an environment, in the local backend's words
// (OUTERLOOP_JOB_ID, SWEEP_INDEX) or in Slurm's.
func ReadAllocation(lookup func(string) (string, bool)) (Allocation, error) {
	a := Allocation{Task: -1}
	if devices, ok := lookup("CUDA_VISIBLE_DEVICES"); ok {
		a.Devices = &devices
	}
	id, local := lookup("OUTERLOOP_JOB_ID")
	index := "SWEEP_INDEX"
	if !local {
		// A task of an array has a SLURM_JOB_ID too, but one that only Slurm
		// itself ever shows to anybody.
		index = "SLURM_ARRAY_TASK_ID"
		if id, _ = lookup("SLURM_ARRAY_JOB_ID"); id == "" {
			id, _ = lookup("SLURM_JOB_ID")
		}
	}
	if id == "" {
		return Allocation{}, errors.New("no OUTERLOOP_JOB_ID and no SLURM_JOB_ID: only a scheduler starts jobs")
	}
	a.ID = id
	task, ok := lookup(index)
	if !ok {
		return a, nil
	}
	n, err := strconv.Atoi(task)
	if err != nil || n < 0 {
		return Allocation{}, fmt.Errorf("%s is %q, not the index of a task", index, task)
	}
	a.Task = n
	if !local {
		a.ID = slurm.TaskID(id, n)
	}
	return a, nil
}
