package slurm_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// A submission that is made once, however often it has to be tried.
func ExampleClient() {
	cluster := slurm.New(slurm.Options{Account: "research"})
	spec := slurm.JobSpec{
		Name:     "sweep",
		Token:    rand.Text(), // kept on disk before it is used, so that it outlives this process
		Command:  []string{"/bin/sh", "-c", "echo task $SWEEP_INDEX"},
		Env:      []string{"PATH=/usr/bin:/bin"},
		Dir:      "/tmp",
		Output:   "sweep-%j.%a.txt",
		Minutes:  5,
		GPUs:     1,
		Array:    8,
		Throttle: 2,
	}
	ctx := context.Background()
	id, err := cluster.Submit(ctx, spec)
	for err != nil {
		if refused, ok := errors.AsType[*slurm.RefusedError](err); ok {
			fmt.Println("the cluster says:", refused.Reason)
			return
		}
		// In doubt. Only a look that succeeds says whether it is there.
		time.Sleep(time.Minute)
		if id, err = cluster.Find(ctx, spec.Token); err == nil && id == "" {
			id, err = cluster.Submit(ctx, spec)
		}
	}
	fmt.Println("submitted", id)
}

// Only a successful answer says anything about a job.
func ExampleClient_Outcomes() {
	cluster := slurm.New(slurm.Options{})
	ids := slurm.TaskIDs("4711", 3)
	outcomes, err := cluster.Outcomes(context.Background(), ids)
	if err != nil {
		fmt.Println("nothing is known:", err)
		return
	}
	for _, id := range ids {
		switch o, known := outcomes[id]; {
		case !known:
			fmt.Println(id, "neither waits nor runs; nobody remembers how it ended")
		case o.State.Terminal():
			fmt.Println(id, "ended as", o.State)
		case o.State == slurm.Pending && slurm.Hopeless(o.Reason):
			fmt.Println(id, "will never start:", o.Reason)
		default:
			fmt.Println(id, "is", o.State)
		}
	}
}
