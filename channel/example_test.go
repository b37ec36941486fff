package channel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
)

// The life of a leg, from the kernel's half: the channel is prepared, the session
// runs, and what it has committed is read when it has ended.
func Example_leg() {
	workspace, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(workspace)

	kernel, err := channel.CreateKernel(workspace)
	if err != nil {
		log.Fatal(err)
	}
	defer kernel.Close()

	// Nothing that an earlier session has left counts for this one.
	if err := kernel.DropCommitted(); err != nil {
		log.Fatal(err)
	}
	if err := kernel.WriteBudget(channel.Budget{Launches: 4, Sleeps: 2}); err != nil {
		log.Fatal(err)
	}
	if err := kernel.WritePrompt([]byte("Find the best order."), []byte("Find the best order.")); err != nil {
		log.Fatal(err)
	}

	playSession(workspace) // in life a process of its own, in a sandbox

	// The session's processes are gone. What it left is hostile input.
	untrusted, err := kernel.ReadCommitted(channel.MaxSleepBytes)
	if err != nil {
		log.Fatal(err) // channel.ErrNothingCommitted, or a *channel.RefusedError
	}
	request, err := channel.ParseRequest(untrusted)
	if err != nil {
		log.Fatal(err) // a *channel.RefusedError says what the author did wrong
	}
	// A kernel keeps the bytes where the session cannot reach them, and then:
	if err := kernel.DropCommitted(); err != nil {
		log.Fatal(err)
	}
	for _, l := range request.Sleep.Launches {
		fmt.Printf("%s: %d tasks of %d minutes: %s\n", l.Name, l.Array, l.Minutes, l.Command)
	}

	// When the jobs are over, the next leg finds their artifacts.
	result := channel.Result{Launch: "orders", Task: 0, Artifact: "result.json"}
	if err := kernel.Deliver(result, strings.NewReader("{}")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Path())
	// Output:
	// orders: 8 tasks of 5 minutes: sh point.sh
	// results/orders/0/result.json
}

// playSession does what the syscall programs do.
func playSession(workspace string) {
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	err = s.Stage(ctx, func(staged *channel.Staged) error {
		launch, err := channel.CheckLaunch(channel.Launch{
			Name: "orders", Command: channel.Quote([]string{"sh", "point.sh"}), Minutes: 5, Array: 8,
			Artifacts: []string{"result.json"},
		})
		staged.Launches = append(staged.Launches, launch)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.CommitSleep(ctx); err != nil {
		log.Fatal(err)
	}
}
