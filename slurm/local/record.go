package local

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// job is what job.json holds of a submission. It is written under the lock only.
// A shepherd reads it without: it is always replaced as a whole.
type job struct {
	ID        int           `json:"id"`
	Spec      slurm.JobSpec `json:"spec"`
	Submitted time.Time     `json:"submitted"`
	Walltime  time.Duration `json:"walltime_ns"`
	Grace     time.Duration `json:"grace_ns"`
	// Shepherd is the program that runs the tasks. It is kept with the job so
	// that a queued job runs the program that queued it, and not the one that
	// some later visitor was started with.
	Shepherd []string `json:"shepherd"`
	Tasks    []task   `json:"tasks"` // one for a job that is no array

	dir   string // where the record lies
	dirty bool   // the record on disk is behind
}

// task is one command to run. Its state is Pending, Running from the moment when
// it has its slot, or terminal.
type task struct {
	State slurm.State `json:"state"`
	// Nonce names the allocation. It is recorded before the shepherd is started
	// and the shepherd has to show it, so that a straggler from a directory
	// that was removed and made anew does not start a job that merely has the
	// same number.
	Nonce    string    `json:"nonce,omitempty"`
	Spawns   int       `json:"spawns,omitempty"` // how often a shepherd was started
	GPUs     []int     `json:"gpus,omitempty"`   // the indices it holds
	Cancel   bool      `json:"cancel,omitempty"` // somebody wants it gone
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	ExitCode *int      `json:"exit_code,omitempty"`

	reason string // why it waits, as the latest pass found
	spawn  bool   // a shepherd is to be started once the record is saved
}

// startRecord is the one start of a task. Whoever creates it decides what becomes
// of the task: the shepherd that will run it, or a visitor that gives it up.
type startRecord struct {
	Owner identity    `json:"owner,omitzero"`
	At    time.Time   `json:"at"`
	Void  slurm.State `json:"void,omitempty"` // the state that the task got instead of being run
}

// endRecord is the shepherd's word on how the task ended.
type endRecord struct {
	State    slurm.State `json:"state"`
	ExitCode *int        `json:"exit_code,omitempty"`
	Ended    time.Time   `json:"ended"`
}

func (j *job) name() string { return strconv.Itoa(j.ID) }

// taskID is the id of task i as the queue shows it.
func (j *job) taskID(i int) string {
	if j.Spec.Array == 0 {
		return j.name()
	}
	return slurm.TaskID(j.name(), i)
}

// over says whether all tasks have ended.
func (j *job) over() bool {
	for i := range j.Tasks {
		if !j.Tasks[i].State.Terminal() {
			return false
		}
	}
	return true
}

func (j *job) running() int {
	n := 0
	for i := range j.Tasks {
		if j.Tasks[i].State == slurm.Running {
			n++
		}
	}
	return n
}

// check tells a record that can be acted on from one that merely was JSON.
func (j *job) check(id int) error {
	switch {
	case j.ID != id:
		return fmt.Errorf("it is of job %d", j.ID)
	case len(j.Tasks) != max(j.Spec.Array, 1):
		return fmt.Errorf("it has %d tasks where %d belong", len(j.Tasks), max(j.Spec.Array, 1))
	case len(j.Shepherd) == 0 || len(j.Spec.Command) == 0 || j.Walltime <= 0:
		return fmt.Errorf("it lacks a shepherd, a command or a walltime")
	}
	for i := range j.Tasks {
		if s := j.Tasks[i].State; s != slurm.Pending && s != slurm.Running && !s.Terminal() {
			return fmt.Errorf("task %d is in the state %q", i, s)
		}
	}
	return nil
}

// finish takes over what the shepherd wrote.
func (t *task) finish(end endRecord) {
	t.State, t.ExitCode, t.Ended = end.State, end.ExitCode, end.Ended
}

func startPath(jobDir string, i int) string { return taskPath(jobDir, i, "start") }
func endPath(jobDir string, i int) string   { return taskPath(jobDir, i, "end") }

// spawnPath holds the identity of the shepherd that was started last. It only
// saves a needless twin, so that it is neither synced nor replaced atomically.
func spawnPath(jobDir string, i int) string { return taskPath(jobDir, i, "spawn") }

func taskPath(jobDir string, i int, kind string) string {
	return filepath.Join(jobDir, strconv.Itoa(i)+"."+kind)
}

// parseID reads "<job>" or "<job>_<task>"; task is -1 for the whole job. Only
// the one spelling that this package prints is an id.
func parseID(s string) (id, task int, ok bool) {
	head, tail, isTask := strings.Cut(s, "_")
	id, ok = parseNumber(head)
	if !ok || id == 0 {
		return 0, 0, false
	}
	if !isTask {
		return id, -1, true
	}
	task, ok = parseNumber(tail)
	return id, task, ok
}

func parseNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < math.MaxInt32 && strconv.Itoa(n) == s
}
