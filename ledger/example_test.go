package ledger_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/ledger"
)

// A launch goes in, one of its jobs comes back, and a restarted kernel that
// records the launch once more changes nothing.
func Example() {
	run, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(run)
	path := filepath.Join(run, "launches.jsonl")
	ctx := context.Background()

	launch := ledger.Submitted{Sleep: 1, Name: "grid", Minutes: 30, Array: 2, JobIDs: []string{"41"}, At: time.Now()}
	for range 2 {
		added, err := ledger.AppendSubmitted(ctx, path, launch)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("added", added)
	}
	code := 0
	_, err = ledger.AppendEnded(ctx, path, ledger.Ended{Sleep: 1, Name: "grid.1", ExitCode: &code, State: "COMPLETED", At: time.Now()})
	if err != nil {
		log.Fatal(err)
	}

	history, err := ledger.History(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range history.Launches {
		for _, j := range l.Jobs {
			fmt.Println(l.Name, l.JobIDs, j.Name, j.State, *j.ExitCode)
		}
	}
	// Output:
	// added 1
	// added 0
	// grid [41] grid.1 COMPLETED 0
}
