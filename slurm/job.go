package slurm

import (
	"fmt"
	"strconv"
	"time"
)

// maxMinutes is ten years. A longer walltime is a slip of the caller's, and its
// nanoseconds would come near the end of a [time.Duration].
const maxMinutes = 10 * 366 * 24 * 60

// JobSpec describes one job, or with Array one array job. The zero value of an
// optional field leaves the choice to the scheduler. Its JSON names stay as they
// are: backends keep jobs on disk, and a newer program reads an older one's.
type JobSpec struct {
	Name string `json:"name"` // as the queue shows it
	// Token is unguessable, unique to this submission, and kept with the job so that
	// [Backend.Find] can look it up. On Slurm it is the job's comment, followed by %
	// and the throttle for an array that has one: ASCII without spaces and %.
	Token string `json:"token,omitempty"`

	Command []string `json:"command"`       // the program and its arguments, run without a shell
	Dir     string   `json:"dir,omitempty"` // working directory of the job
	// Env is the whole environment, as KEY=value; nothing else is inherited. The
	// backend adds what says which job it is and which GPUs are its own
	// (OUTERLOOP_JOB_ID or SLURM_*, SWEEP_INDEX, CUDA_VISIBLE_DEVICES), and only the
	// backend can. It is not shown to other users of the machine or cluster.
	Env []string `json:"env,omitempty"`
	// Output is the file that takes what the command itself prints, after what is
	// there already; "" discards it. %j is the job's id, %a the index of the task.
	Output string `json:"output,omitempty"`

	Minutes  int `json:"minutes"`             // walltime, at least 1
	CPUs     int `json:"cpus,omitempty"`      // per task. On one machine a job of 0 CPUs takes no slot: it starts at once
	MemoryMB int `json:"memory_mb,omitempty"` // per task
	GPUs     int `json:"gpus,omitempty"`      // per task

	Array    int `json:"array,omitempty"`    // number of tasks, at most 100,000, which see SWEEP_INDEX from 0; 0 for a job that is no array
	Throttle int `json:"throttle,omitempty"` // at most so many tasks of the array at a time; 0 for all of them

	After []string  `json:"after,omitempty"` // ids of jobs that must be over, however they ended, before this one starts
	Begin time.Time `json:"begin,omitzero"`  // not before this time
	// Singleton: not while another job of the same name and user runs. One
	// machine has no such jobs and refuses it.
	Singleton bool `json:"singleton,omitempty"`

	Account   string `json:"account,omitempty"`
	Partition string `json:"partition,omitempty"` // one, or a comma separated list of which the first that is free is taken
	QOS       string `json:"qos,omitempty"`
	Nice      int    `json:"nice,omitempty"`
}

// TaskID spells the id of task i of the array job id, as squeue(1) and
// sacct(1) do.
func TaskID(id string, i int) string {
	return id + "_" + strconv.Itoa(i)
}

// TaskIDs returns the ids under which the parts of a job are found: the id
// itself for a job that is no array, else one for each of its n tasks.
func TaskIDs(id string, array int) []string {
	if array <= 0 {
		return []string{id}
	}
	ids := make([]string, array)
	for i := range ids {
		ids[i] = TaskID(id, i)
	}
	return ids
}

// Check reports, as a [*RefusedError], the first thing in the job that no
// backend could run. Backends call it before they do anything else, so that a
// job that fails here is surely not in the queue.
func (s *JobSpec) Check() error {
	refuse := func(format string, args ...any) error {
		return &RefusedError{Job: s.Name, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Name == "":
		return refuse("it has no name; give it one")
	case len(s.Command) == 0 || s.Command[0] == "":
		return refuse("it has no command; say which program to run")
	case s.Minutes < 1 || s.Minutes > maxMinutes:
		return refuse("its walltime is %d minutes; ask for 1 to %d", s.Minutes, maxMinutes)
	case s.CPUs < 0 || s.MemoryMB < 0 || s.GPUs < 0:
		return refuse("it asks for %d CPUs, %d MB and %d GPUs a task; none of them may be negative", s.CPUs, s.MemoryMB, s.GPUs)
	case s.Array < 0 || s.Array > maxTasks:
		return refuse("its array has %d tasks; ask for 0 to %d", s.Array, maxTasks)
	case s.Throttle < 0:
		return refuse("its array runs %d tasks at a time; ask for 0 or more", s.Throttle)
	}
	return nil
}
