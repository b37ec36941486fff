package engine

import (
	"fmt"
	"slices"
)

// actor is who has a run and takes its steps.
type actor string

// The actors.
const (
	aLeg     actor = "leg"      // the process of a leg, which is a job
	aTick    actor = "tick"     // a pass over all runs
	operator actor = "operator" // outerloop-tick new, end, retry and prune
)

// made is where a run comes from.
const made State = "new"

// change is a step from one state into another, and who may take it.
type change struct {
	from, to State
	by       []actor
}

// life lists every change of state that there is. docs/lifecycle.md says what each is,
// and a test compares the two. A save that leaves the state as it is keeps what is
// known of the step, and is anybody's who has the run; an ended run is not saved.
func life() []change {
	return []change{
		{made, Ready, []actor{operator}},
		{Ready, Running, []actor{aLeg}},
		{Ready, Ended, []actor{aLeg, aTick, operator}},
		{Running, Ready, []actor{aLeg, aTick}},
		{Running, Parking, []actor{aLeg, aTick}},
		{Running, Ended, []actor{aLeg, aTick, operator}},
		{Parking, Parked, []actor{aLeg, aTick}},
		{Parking, Ended, []actor{aLeg, aTick, operator}},
		{Parked, Running, []actor{aLeg}},
		{Parked, Ready, []actor{aLeg}},
		{Parked, Parking, []actor{aLeg}},
		{Parked, Ended, []actor{aLeg, aTick, operator}},
		{Ended, Ready, []actor{operator}},
		{Ended, Running, []actor{operator}},
		{Ended, Parked, []actor{operator}},
	}
}

// checkChange refuses a change of state that is not in life. To see one is to see a
// fault of this program: the record stays as it was.
func checkChange(from, to State, by actor) error {
	if from == to && from != Ended {
		return nil
	}
	for _, c := range life() {
		if c.from == from && c.to == to && slices.Contains(c.by, by) {
			return nil
		}
	}
	return fmt.Errorf("the %s may not take a run from %s to %s", by, from, to)
}
