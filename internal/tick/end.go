package tick

import (
	"context"
	"fmt"
	"strings"
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
	rootFlag := c.rootFlag()
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return wrong("outerloop-tick status lists the runs", "end takes the name of one run")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	e, err := c.onlooker(root)
	if err != nil {
		return err
	}
	if err := e.End(ctx, rest[0]); err != nil {
		return failed("outerloop-tick status shows how the runs stand", "%w", err)
	}
	fmt.Fprintf(c.Stdout, "run %s has ended\n", rest[0])
	return nil
}
