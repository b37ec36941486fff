// Embed is a kernel in about fifty lines: it runs one session beside a watcher that
// answers a verb of its own, and prints what the session has asked for at its end.
//
//	go run ./examples/embed WORKSPACE COMMAND [ARGUMENT...]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// verbs are what a session may ask while it lives. An answer says when it was had.
func verbs() map[string]watcher.Handler {
	return map[string]watcher.Handler{
		"weather": func(context.Context) (any, error) {
			return map[string]any{"at": float64(time.Now().UnixMicro()) / 1e6, "sky": "clear", "degrees": 21}, nil
		},
	}
}

// run makes the channel, runs the session, and returns what it has committed.
func run(workspace string, command []string) (channel.Request, error) {
	kernel, err := channel.CreateKernel(workspace)
	if err != nil {
		return channel.Request{}, err
	}
	defer kernel.Close()
	if err := begin(kernel); err != nil {
		return channel.Request{}, err
	}
	w := watcher.New(watcher.Options{})
	defer w.Close()
	if _, err := w.Add(kernel, verbs()); err != nil {
		return channel.Request{}, err
	}
	// A real kernel puts the session into a sandbox here, and gives it nothing else.
	session := exec.Command(command[0], command[1:]...)
	session.Env = []string{"PATH=" + os.Getenv("PATH"), "OUTERLOOP_WORKSPACE=" + workspace}
	session.Dir, session.Stdout, session.Stderr = workspace, os.Stdout, os.Stderr
	session.WaitDelay = 5 * time.Second
	if err := session.Run(); err != nil {
		return channel.Request{}, err
	}
	return committed(kernel)
}

// begin prepares the channel for a session: what an earlier one has left is not its own.
func begin(kernel *channel.Kernel) error {
	return errors.Join(drop(kernel), kernel.WriteBudget(channel.Budget{Launches: 10, Sleeps: 5}))
}

// drop consumes what is staged and committed, whatever it is.
func drop(kernel *channel.Kernel) error {
	return errors.Join(kernel.DropCommitted(), kernel.DropStaged())
}

// committed takes the request that a session has left, once that has ended.
func committed(kernel *channel.Kernel) (channel.Request, error) {
	untrusted, err := kernel.ReadCommitted(channel.MaxVerdictBytes)
	if err := errors.Join(err, drop(kernel)); err != nil {
		return channel.Request{}, err
	}
	return channel.ParseRequest(untrusted)
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: embed WORKSPACE COMMAND [ARGUMENT...]")
	}
	request, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		log.Fatal(err)
	}
	if request.Sleep == nil {
		log.Fatal("a judge's verdict is not for this kernel")
	}
	for _, launch := range request.Sleep.Launches {
		fmt.Printf("would run %s for %d minutes: %s\n", launch.Name, launch.Minutes, launch.Command)
	}
}
