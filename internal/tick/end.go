package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/nearest"
)

func endCommand() command {
	return command{
		name: "end", use: "[--root DIR] RUN",
		what: "end a run: cancel its jobs, end its leg",
		detail: strings.TrimSpace(`
Ends a run. Its jobs are cancelled, a leg that is under way is told to end, and
nothing of it starts again. Its workspace, ledger and records stay.`),
		run: runEnd,
	}
}

func runEnd(ctx context.Context, c *call, args []string) error {
	e, id, err := c.oneRunOf(args)
	if err != nil {
		return err
	}
	if ended, outcome := standing(ctx, e, id); ended {
		fmt.Fprintf(c.Stdout, "run %s had ended already (%s)\n", id, outcome)
		return nil
	}
	if err := e.End(ctx, id); err != nil {
		return failed("outerloop-tick status shows how the runs stand", "%w", err)
	}
	fmt.Fprintf(c.Stdout, "run %s has ended\n", id)
	return nil
}

// oneRunOf is how a command begins that is going to change one run: it returns the run's
// name, which is one of the state root's, and what acts on it.
func (c *call) oneRunOf(args []string) (*engine.Engine, string, error) {
	rootFlag := c.rootFlag()
	id, err := c.oneRun(args)
	if err != nil {
		return nil, "", err
	}
	root, err := c.workRoot(*rootFlag)
	if err != nil {
		return nil, "", err
	}
	if err := known(root, id); err != nil {
		return nil, "", err
	}
	e, err := c.onlooker(root)
	return e, id, err
}

// oneRun parses the arguments of a command that takes flags and the name of one run.
func (c *call) oneRun(args []string) (id string, err error) {
	rest, err := c.parse(args)
	if err != nil {
		return "", err
	}
	if len(rest) != 1 {
		return "", wrong("usage: "+c.words()+" "+c.command.use+"; outerloop-tick status lists the runs",
			"%s takes the name of one run, after its flags", c.command.name)
	}
	return rest[0], nil
}

// standing says whether a run has ended, and how. Where the scheduler does not answer
// it is taken to be under way: to end one that has ended does nothing.
func standing(ctx context.Context, e *engine.Engine, id string) (ended bool, outcome engine.Outcome) {
	runs, err := e.Status(ctx)
	if err != nil {
		return false, ""
	}
	for _, r := range runs {
		if r.Run == id {
			return r.State == engine.Ended, r.Outcome
		}
	}
	return false, ""
}

// known returns an error for a run that there is not.
func known(root engine.Root, id string) error {
	ids, err := root.Runs()
	if err != nil {
		return err
	}
	if slices.Contains(ids, id) {
		return nil
	}
	cure := "outerloop-tick status lists the runs"
	if near := nearest.Word(id, ids); near != "" {
		cure = "did you mean " + near + "?"
	}
	return failed(cure, "there is no run %s", channel.Quote([]string{id}))
}
