package tick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/render"
	"github.com/outerloop-go/outerloop/slurm"
)

func passCommand() command {
	return command{
		use: "[--root DIR] [--verbose | --loop [--until-idle]] [--page FILE] [--metrics FILE]",
		detail: strings.TrimSpace(`
Looks at every run of the state root once, starts the legs that are due and takes
on what dead processes have left. That is all that is needed from cron: jobs start
and runs wake by themselves in between. It says what it has queued and what is
wrong, else nothing. With --loop it stays, repeats that, and says what happens.`),
		run: runPass,
	}
}

func runPass(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	loop := c.flags.Bool("loop", false, "stay, and pass over the runs again and again")
	untilIdle := c.flags.Bool("until-idle", false, "with --loop: end when no run can move any more")
	verbose := c.flags.Bool("verbose", false, "say how many runs there are, also where nothing was to be done")
	verbs := c.flags.String("verbs", "", "`DIR` with the syscall-* programs; that of this program where it is not given")
	after := c.afterFlags()
	place := c.placeFlags()
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return unknownCommand(args, rest[0])
	}
	if *untilIdle && !*loop {
		return wrong("add --loop", "--until-idle goes with --loop only")
	}
	set, err := c.settings()
	if err != nil {
		return err
	}
	if err := after.settle(set); err != nil {
		return err
	}
	root, err := c.workRoot(*rootFlag)
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
	after.watch(e)
	if *loop {
		return c.loop(ctx, e, *untilIdle, after)
	}
	if paused(root) {
		fmt.Fprintln(c.Stdout, pausedLine)
		return after.write(e, time.Now())
	}
	return errors.Join(c.pass(ctx, e, *verbose), after.write(e, time.Now()))
}

// pass is one pass. From cron it runs every minute, so it is silent where there is
// nothing to tell.
func (c *call) pass(ctx context.Context, e *engine.Engine, verbose bool) error {
	e.Backend = announcer{e.Backend, c.Stdout}
	sum, err := e.Pass(ctx)
	if err != nil {
		return err
	}
	for _, broken := range sum.Broken {
		e.Log.Error("run passed over", "error", broken)
		c.status = exitFailed
	}
	if verbose {
		fmt.Fprintf(c.Stdout, "%s, %d not ended\n", render.Count(sum.Runs, "run"), sum.Moving)
	}
	return nil
}

// announcer is a backend that says of each job that it is given.
type announcer struct {
	slurm.Backend
	out io.Writer
}

func (a announcer) Submit(ctx context.Context, spec slurm.JobSpec) (string, error) {
	id, err := a.Backend.Submit(ctx, spec)
	if err == nil {
		fmt.Fprintf(a.out, "queued %s, job %s\n", spec.Name, id)
	}
	return id, err
}
