package engine

import (
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// A launch is charged the GPU time that it may take when it goes in: its
// walltime for each GPU of each task. What its jobs did not take comes back when
// they end; nothing comes back where that is not known.

// gpuHours is what a launch may take at most.
func (s *Settings) gpuHours(l channel.Launch) float64 {
	return float64(l.Minutes*l.Array*s.GPUs) / 60
}

// gpuCost is what all launches of a request may take.
func (s *Settings) gpuCost(request *channel.Sleep) float64 {
	hours := 0.0
	for _, l := range request.Launches {
		hours += s.gpuHours(l)
	}
	return hours
}

// checkGPUs refuses a request that could take more GPU time than is left.
func (r *Run) checkGPUs(request *channel.Sleep) error {
	cost := r.gpuCost(request)
	if r.Budget.GPUHours == nil || cost <= *r.Budget.GPUHours {
		return nil
	}
	return &channel.RefusedError{
		Field: "launches",
		Cause: fmt.Sprintf("they may take %.2f GPU hours, and %.2f are left in the run's budget", cost, *r.Budget.GPUHours),
		Cure: fmt.Sprintf("sleep with fewer tasks or fewer minutes; a task has %d GPUs, and what its job does not take comes back",
			r.GPUs),
	}
}

// chargeGPUs takes hours from the budget, if there is one; less than nothing
// gives back.
func (r *Run) chargeGPUs(hours float64) {
	if r.Budget.GPUHours == nil {
		return
	}
	left := *r.Budget.GPUHours - hours
	r.Budget.GPUHours = &left
}

// refundGPUs gives back what the jobs of the run's sleep did not take.
func (r *Run) refundGPUs(g *gathered) {
	for i, jobs := range g.launches {
		l := &r.Sleep.Launches[i]
		if l.Job.Refused != "" {
			r.chargeGPUs(-r.gpuHours(l.Launch))
			continue
		}
		walltime := time.Duration(l.Minutes) * time.Minute
		for t := range jobs {
			if elapsed := jobs[t].elapsed; elapsed.Known {
				unused := max(walltime-elapsed.Duration, 0)
				r.chargeGPUs(-unused.Hours() * float64(r.GPUs))
			}
		}
	}
}

// throttle is how many tasks of a sweep may run at a time: as many as the author
// wants, and no more than the GPUs that the run may have at once allow. One task
// is always allowed.
func (s *Settings) throttle(l channel.Launch) int {
	if l.Array <= 1 || s.MaxGPUs == 0 || s.GPUs == 0 {
		return l.Concurrency
	}
	most := max(s.MaxGPUs/s.GPUs, 1)
	if l.Concurrency == 0 {
		return min(most, l.Array)
	}
	return min(most, l.Concurrency)
}
