package tick

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

func statusCommand() command {
	return command{
		name: "status", use: "[--root DIR] [--json | --watch]",
		what: "show how every run stands",
		detail: strings.TrimSpace(`
Shows how every run of the state root stands. It changes no run.

Examples:
  outerloop-tick status
  outerloop-tick status --json | jq '.[] | select(.state == "ended")'`),
		run: runStatus,
	}
}

func runStatus(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	asJSON := c.flags.Bool("json", false, "print a JSON list, one object a run")
	watch := c.flags.Bool("watch", false, "show it again every second, until interrupted")
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 || *asJSON && *watch {
		return wrong("outerloop-tick status --help shows what it takes", "status takes no arguments, and one of --json and --watch")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	e, err := c.onlooker(root)
	if err != nil {
		return err
	}
	for {
		runs, err := e.Status(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if *asJSON {
			enc := json.NewEncoder(c.Stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(runs)
		}
		table := statusTable(runs, time.Now())
		if !*watch {
			_, err := c.Stdout.Write(table)
			return err
		}
		// Home, the table line by line with each line's rest cleared, then
		// everything below: no flicker, and nothing left of a longer table.
		screen := "\x1b[H" + strings.ReplaceAll(string(table), "\n", "\x1b[K\n") + "\x1b[J"
		if _, err := c.Stdout.Write([]byte(screen)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// statusTable is the table for people.
func statusTable(runs []engine.Status, now time.Time) []byte {
	var b bytes.Buffer
	if len(runs) == 0 {
		b.WriteString("no runs yet; outerloop-tick new makes one\n")
		return b.Bytes()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tAGENT\tSTATE\tLEG\tJOBS\tLAUNCHES LEFT\tSLEEPS LEFT\tAGE\tWHAT")
	for _, r := range runs {
		if r.Broken != "" {
			fmt.Fprintf(w, "%s\t\tbroken\t\t\t\t\t\t%s\n", r.Run, render.Line(r.Broken, 200))
			continue
		}
		state, jobs := string(r.State), ""
		if r.State == engine.Ended {
			state = string(r.Outcome)
		}
		if r.Jobs > 0 {
			jobs = fmt.Sprintf("%d/%d", r.Over, r.Jobs)
		}
		end := now
		if !r.Ended.IsZero() {
			end = r.Ended
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%d\t%d\t%s\t%s\n", r.Run, render.Line(r.Agent, 32), state, r.Leg, jobs,
			r.Budget.Launches, r.Budget.Sleeps, age(end.Sub(r.Created)), headline(r))
	}
	w.Flush()
	return b.Bytes()
}

// age is a span in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
