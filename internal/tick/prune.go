package tick

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

func pruneCommand() command {
	return command{
		name: "prune", use: "[--root DIR] [--older-than DAYS] [--dry-run]",
		what: "remove workspaces, homes and seals of runs that ended long ago",
		detail: strings.TrimSpace(`
Removes what runs that ended more than DAYS days ago leave behind and what is not
needed to know what happened: workspaces that the state root made, authors' homes with
what their programs keep there, and seals, with the commits in them. While no run can
move and no job is queued it also removes programs that jobs ran, but for the latest. It
prints what it frees.

Ledgers, records, reports, output and results of jobs stay, and so do workspaces given
with --workspace. A stuck or failed run whose workspace is gone cannot be retried.

Examples:
  outerloop-tick prune --dry-run
  outerloop-tick prune --older-than 90`),
		run: runPrune,
	}
}

func runPrune(ctx context.Context, c *call, args []string) error {
	days := c.flags.Int("older-than", 30, "`DAYS` since a run ended, for what it left to go")
	dry := c.flags.Bool("dry-run", false, "only say what would go")
	root, err := c.rootAlone(args)
	if err != nil {
		return err
	}
	if *days < 0 || *days > 36500 {
		return wrong("give a number from 0 to 36500", "--older-than %d is no number of days", *days)
	}
	idle := func() (bool, error) {
		e, err := c.onlooker(root)
		if err != nil {
			return false, err
		}
		rows, err := e.Backend.Queue(ctx)
		return len(rows) == 0, err
	}
	verb, total := "removed", "freed"
	if *dry {
		verb, total = "would remove", "would free"
	}
	var bytes int64
	before := time.Now().Add(-time.Duration(*days) * 24 * time.Hour)
	err = engine.Prune(ctx, root, before, *dry, idle, func(p engine.Pruned) {
		bytes += p.Bytes
		fmt.Fprintf(c.Stdout, "%s the %s: %s\n", verb, p.What, megabytes(p.Bytes))
	})
	fmt.Fprintf(c.Stdout, "%s %s\n", total, megabytes(bytes))
	if err != nil {
		return failed("what is named was left, at least in part; the rest is done", "%w", err)
	}
	return nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
