package local

import (
	"crypto/rand"
	"slices"

	"github.com/outerloop-go/outerloop/slurm"
)

// The reasons that a task waits for, in the words of squeue(1), "JOB REASON
// CODES".
const (
	reasonResources  = "Resources"         // the slots are taken
	reasonPriority   = "Priority"          // an older job waits for slots
	reasonThrottle   = "JobArrayTaskLimit" // enough tasks of its array run
	reasonDependency = "Dependency"
	reasonBegin      = "BeginTime"
)

// slots is what is left to hand out.
type slots struct {
	cpus    int
	gpus    []int // indices
	blocked *job  // the oldest job that waits for slots
}

// free counts what the running tasks leave. More may be out than there is, after
// the operator made the machine smaller.
func (v *visit) free() slots {
	s := slots{cpus: v.CPUs}
	taken := map[int]bool{}
	for _, j := range v.jobs {
		for i := range j.Tasks {
			if t := &j.Tasks[i]; t.State == slurm.Running {
				s.cpus -= j.Spec.CPUs
				for _, g := range t.GPUs {
					taken[g] = true
				}
			}
		}
	}
	for g := range v.GPUs {
		if !taken[g] {
			s.gpus = append(s.gpus, g)
		}
	}
	return s
}

// schedule gives slots to the tasks that may start, in order of submission. A job
// that waits for slots keeps younger ones from overtaking it, or a wide job would
// wait for ever behind a stream of narrow ones. A job that waits for anything
// else, and a job that takes no slot, is in nobody's way.
func (v *visit) schedule() {
	free := v.free()
	for _, j := range v.jobs {
		running := j.running()
		early := v.at.Before(j.Spec.Begin)
		depends := v.depends(j)
		for i := range j.Tasks {
			t := &j.Tasks[i]
			if t.State != slurm.Pending {
				continue
			}
			switch {
			case early:
				t.reason = reasonBegin
			case depends:
				t.reason = reasonDependency
			case j.Spec.Throttle > 0 && running >= j.Spec.Throttle:
				t.reason = reasonThrottle
			default:
				if t.reason = v.take(&free, j, t); t.reason == "" {
					running++
				}
			}
		}
	}
}

// take starts a task if its slots are free, and else says why not.
func (v *visit) take(free *slots, j *job, t *task) (reason string) {
	cpus, gpus := j.Spec.CPUs, j.Spec.GPUs
	if cpus > 0 || gpus > 0 {
		switch {
		case cpus > v.CPUs || gpus > v.capacity.GPUs:
			// It can only start when the machine grows again. If it held its
			// place in the line, nothing else would run until then.
			return reasonResources
		case free.blocked != nil && free.blocked != j:
			return reasonPriority
		case free.blocked == j || cpus > free.cpus || gpus > len(free.gpus):
			free.blocked = j
			return reasonResources
		}
	}
	free.cpus -= cpus
	t.GPUs, free.gpus = slices.Clone(free.gpus[:gpus]), free.gpus[gpus:]
	t.State, t.Nonce = slurm.Running, rand.Text()
	t.Spawns, t.spawn, j.dirty = 1, true, true
	return ""
}

// depends says whether the job has to wait for another one. What is neither live
// nor unreadable has ended; that it was a job once, Submit has made sure of.
func (v *visit) depends(j *job) bool {
	for _, id := range j.Spec.After {
		n, i, _ := parseID(id)
		if v.broken[n] != nil {
			return true
		}
		other := v.byID[n]
		switch {
		case other == nil:
		case i < 0 || i >= len(other.Tasks):
			if !other.over() {
				return true
			}
		case !other.Tasks[i].State.Terminal():
			return true
		}
	}
	return false
}
