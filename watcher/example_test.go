package watcher_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// A kernel answers a verb of its own beside a live session.
func Example() {
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

	w := watcher.New(watcher.Options{})
	defer w.Close()
	_, err = w.Add(kernel, map[string]watcher.Handler{
		"disk": func(ctx context.Context) (any, error) {
			return map[string]int{"free_gb": 82}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	// What a verb does, in a process of the session's.
	session, err := channel.FindSession(workspace, "")
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	answer, err := session.Ask(context.Background(), "disk", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", answer.Data)
	// Output: {"free_gb":82}
}
