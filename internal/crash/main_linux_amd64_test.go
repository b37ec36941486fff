package crash

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/outerloop-go/outerloop/internal/tick"
	"github.com/outerloop-go/outerloop/internal/verbs"
)

// Names under which the test binary is what it is not by itself.
const (
	superviseName = "supervise"
	filteredName  = "filtered"
)

// TestMain lets the test binary be the programs themselves, under their names, and the
// supervisor.
func TestMain(m *testing.M) {
	// Not by a link of its name, as the others: nobody but a supervisor calls it.
	if os.Args[0] == filteredName {
		fmt.Fprintln(os.Stderr, filtered(os.Args[1:]))
		os.Exit(1)
	}
	testscript.Main(m, map[string]func(){
		superviseName:    func() { os.Exit(supervise()) },
		"outerloop-tick": func() { os.Exit(tick.Main(os.Args[1:], tick.Process())) },
		"syscall-launch": func() { os.Exit(verbs.Main(verbs.Launch)) },
		"syscall-submit": func() { os.Exit(verbs.Main(verbs.Submit)) },
		"syscall-sleep":  func() { os.Exit(verbs.Main(verbs.Sleep)) },
		"syscall-queue":  func() { os.Exit(verbs.Main(verbs.Queue)) },
	})
}
