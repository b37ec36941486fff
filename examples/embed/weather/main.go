// Weather is a verb of an embedding kernel's own: it asks in the channel and prints the
// answer. Linked statically it can stand beside the syscall programs in an image.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/outerloop-go/outerloop/channel"
)

func main() {
	if err := ask(); err != nil {
		fmt.Fprintln(os.Stderr, "weather: error:", err)
		os.Exit(1)
	}
}

func ask() error {
	session, err := channel.FindSession(os.Getenv("OUTERLOOP_WORKSPACE"), ".")
	if err != nil {
		return err
	}
	defer session.Close()
	answer, err := session.Ask(context.Background(), "weather", channel.DefaultWait)
	if err != nil {
		return err
	}
	fmt.Printf("%s", answer.Data)
	return nil
}
