package engine

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/slurm"
)

func TestThrottle(t *testing.T) {
	for _, test := range []struct {
		gpus, most, array, concurrency, want int
	}{
		{1, 0, 8, 0, 0},
		{1, 0, 8, 3, 3}, // no bound
		{1, 4, 8, 0, 4},
		{1, 4, 8, 2, 2},
		{1, 4, 8, 6, 4},
		{2, 4, 8, 0, 2},
		{8, 4, 8, 0, 1}, // never below one
		{1, 4, 3, 0, 3}, // no wider than the sweep
		{1, 4, 1, 0, 0},
		{0, 4, 8, 0, 0}, // no sweep, no GPUs
	} {
		s := Settings{GPUs: test.gpus, MaxGPUs: test.most}
		if got := s.throttle(channel.Launch{Array: test.array, Concurrency: test.concurrency}); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestGPUHours(t *testing.T) {
	hours := 10.0
	r := &Run{Record: Record{Settings: Settings{GPUs: 2}, Budget: Budget{GPUHours: &hours}}}
	sweep := channel.Launch{Name: "a", Minutes: 60, Array: 4}
	single := channel.Launch{Name: "b", Minutes: 30, Array: 1}
	request := &channel.Sleep{Launches: []channel.Launch{sweep, single}}
	if err := r.checkGPUs(request); err != nil || r.gpuCost(request) != 9 {
		t.Fatalf("%v hours, %v", r.gpuCost(request), err)
	}
	over := &channel.Sleep{Launches: []channel.Launch{sweep, single, single, single}}
	var refused *channel.RefusedError
	if err := r.checkGPUs(over); !errors.As(err, &refused) || refused.Cure == "" {
		t.Errorf("%v", err)
	}
	r.chargeGPUs(r.gpuCost(request))
	known := func(d time.Duration) slurm.Duration { return slurm.Duration{Duration: d, Known: true} }
	r.Sleep = &Sleep{Launches: []Launch{{Launch: sweep}, {Launch: single, Job: Submission{Refused: "no"}}}}
	r.refundGPUs(&gathered{launches: [][]job{
		{
			{elapsed: known(15 * time.Minute)}, // 45 minutes of 2 GPUs come back
			{elapsed: known(0)},                // all of it
			{elapsed: known(90 * time.Minute)}, // nothing, and no debt
			{},                                 // not known: nothing
		},
		{{}}, // refused: all of it
	}})
	if want := 10 - 9 + 1.5 + 2 + 1; math.Abs(*r.Budget.GPUHours-want) > 1e-9 {
		t.Errorf("%v hours left, want %v", *r.Budget.GPUHours, want)
	}
	if hours != 10 {
		t.Error("the budget was changed in place")
	}
	// Without a bound nothing is counted.
	free := &Run{Record: Record{Settings: Settings{GPUs: 8}}}
	free.chargeGPUs(5)
	if err := free.checkGPUs(over); err != nil || free.Budget.GPUHours != nil {
		t.Errorf("%v, %v", err, free.Budget.GPUHours)
	}
}
