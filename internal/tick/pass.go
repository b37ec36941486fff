package tick

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
)

func passCommand() command {
	return command{
		use: "[--root DIR] [--loop [--until-idle]]",
		detail: strings.TrimSpace(`
Looks at every run of the state root once, starts the legs that are due and takes
on what dead processes have left. That is all that is needed from cron: jobs start
and runs wake by themselves in between. With --loop it stays, repeats that, and
says what happens.`),
		run: runPass,
	}
}

func runPass(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	loop := c.flags.Bool("loop", false, "stay, and pass over the runs again and again")
	untilIdle := c.flags.Bool("until-idle", false, "with --loop: end when no run can move any more")
	verbs := c.flags.String("verbs", "", "`DIR` with the syscall-* programs; that of this program where it is not given")
	place := c.placeFlags()
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return wrong("outerloop-tick --help lists the commands", "there is no command %q", rest[0])
	}
	if *untilIdle && !*loop {
		return wrong("add --loop", "--until-idle goes with --loop only")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	if err := c.settle(root, place); err != nil {
		return err
	}
	e, err := c.engine(root, *verbs, c.log())
	if err != nil {
		return err
	}
	if *loop {
		return c.loop(ctx, e, *untilIdle)
	}
	if paused(root) {
		fmt.Fprintf(c.Stdout, "paused; outerloop-tick resume takes it back\n")
		return nil
	}
	sum, err := e.Pass(ctx)
	if err != nil {
		return err
	}
	for _, broken := range sum.Broken {
		e.Log.Error("run passed over", "error", broken)
		c.status = exitFailed
	}
	fmt.Fprintf(c.Stdout, "%s, %d not ended\n", render.Count(sum.Runs, "run"), sum.Moving)
	return nil
}

// interval is the pause between two passes of a loop. A run does not wait for
// it: its wake is a job that the end of its last job starts. It is how soon a
// loop notices that something has died.
const interval = 500 * time.Millisecond

// loop passes over the runs until it is told to end, or until no run can move.
func (c *call) loop(ctx context.Context, e *engine.Engine, untilIdle bool) error {
	progress := newProgress(c.Stdout)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	reported := make(map[string]bool)
	for {
		sum, err := e.Pass(ctx)
		if ctx.Err() != nil {
			fmt.Fprintln(c.Stdout, "stopped; legs and jobs that are under way go on, and the next tick takes them up")
			return nil
		}
		if err != nil {
			// What failed may work again in a moment; a loop stays.
			e.Log.Error("pass failed", "error", err)
		}
		for _, broken := range sum.Broken {
			if !reported[broken.Error()] {
				reported[broken.Error()] = true
				e.Log.Error("run passed over", "error", broken)
			}
		}
		if runs, err := e.Status(ctx); err == nil {
			progress.show(runs)
		}
		if err == nil && untilIdle && sum.Moving == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
