package tick

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

STATE is ready, running, parking or parked, and once the run has ended its outcome:
submitted, accepted, finished, failed, stuck or cancelled; a judge's is concluded once it
gave its verdict. LEG is the leg that runs or ran last, JOBS how many of the present
sleep's are over. SINCE is how long ago the run was made, or, once it has ended, how long
ago that was.

With --watch a terminal also shows each launch that is out, with how many of its tasks
are done and how long the longest has run of its walltime, and the leg that runs likewise.

In JSON the state of a run that has ended is "ended", and "outcome" says how; "leg" is
the leg that runs, or the next. "role" is author or judge, and a judge's run has "judges"
and, once it has concluded, "verdict", in figures.

Examples:
  outerloop-tick status
  outerloop-tick status --json | jq '.[] | select(.state == "ended")'`),
		run: runStatus,
	}
}

func runStatus(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	asJSON := c.flags.Bool("json", false, "print a JSON list, one object a run")
	watch := c.flags.Bool("watch", false, "stay until interrupted: in a terminal a live table with what is under way, else a line for each change")
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return wrong("outerloop-tick status --help shows what it takes", "%q is not expected: status takes flags only", rest[0])
	}
	if *asJSON && *watch {
		return wrong("leave one of them out", "--json and --watch do not go together")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	e, err := c.onlooker(root)
	if err != nil {
		return err
	}
	if *watch {
		return c.watchStatus(ctx, e)
	}
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
	_, err = c.Stdout.Write(statusTable(root, runs, time.Now()))
	return err
}

// statusTable is the table for people.
func statusTable(root engine.Root, runs []engine.Status, now time.Time) []byte {
	var b bytes.Buffer
	if paused(root) {
		fmt.Fprintln(&b, pausedLine)
	}
	if len(runs) == 0 {
		b.WriteString("no runs yet; outerloop-tick new makes one\n")
		return b.Bytes()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tAGENT\tSTATE\tLEG\tJOBS\tLAUNCHES LEFT\tSLEEPS LEFT\tSINCE\tWHAT")
	for _, r := range runs {
		if r.Broken != "" {
			fmt.Fprintf(w, "%s\t-\tbroken\t-\t-\t-\t-\t-\t%s\n", r.Run, render.Line(r.Broken, 200))
			continue
		}
		state, jobs, since := string(r.State), "-", r.Created
		if r.State == engine.Ended {
			state, since = string(r.Outcome), r.Ended
		}
		launches, sleeps := strconv.Itoa(r.Budget.Launches), strconv.Itoa(r.Budget.Sleeps)
		if r.Role == engine.Judge {
			launches, sleeps = "-", "-"
		}
		if r.Jobs > 0 {
			jobs = fmt.Sprintf("%d/%d", r.Over, r.Jobs)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Run, render.Line(r.Agent, 32), state, lastLeg(root, r), jobs,
			launches, sleeps, age(now.Sub(since)), detail(r))
	}
	w.Flush()
	return b.Bytes()
}

// lastLeg is the leg that runs or ran last, "-" before the first. The record's own may
// be the next one, which has no output yet.
func lastLeg(root engine.Root, r engine.Status) string {
	leg := r.Leg
	if _, err := os.Lstat(filepath.Join(root.RunDir(r.Run), "legs", strconv.Itoa(leg), "stdout")); err != nil {
		leg--
	}
	if leg < 0 {
		return "-"
	}
	return strconv.Itoa(leg)
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
