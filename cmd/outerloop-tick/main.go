// Outerloop-tick is the operator's program: it makes runs and moves them, in
// one pass from cron, in a loop in a terminal, or as the jobs that it queues.
//
// Call it with --help for its commands.
package main

import (
	"os"

	"github.com/outerloop-go/outerloop/internal/tick"
)

func main() {
	os.Exit(tick.Main(os.Args[1:], tick.Process()))
}
