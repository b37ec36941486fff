package tick

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/outerloop-go/outerloop/internal/engine"
)

func retryCommand() command {
	return command{
		name: "retry", use: "[--root DIR] RUN",
		what: "let a run that ended as stuck or failed go on",
		detail: strings.TrimSpace(`
Lets a run that ended as stuck or failed go on where it was, once what stood in its way
is mended; outerloop-tick status says what that was. What the author had asked for is
carried out, a leg that came to nothing starts anew with its prompt, and jobs that the
end cancelled come back to the author as cancelled. Budgets are as they were. The next
tick takes it from there.

Examples:
  outerloop-tick retry first
  outerloop-tick retry first && outerloop-tick`),
		run: runRetry,
	}
}

func runRetry(ctx context.Context, c *call, args []string) error {
	e, id, err := c.oneRunOf(args)
	if err != nil {
		return err
	}
	next, err := e.Retry(ctx, id)
	if refused, ok := errors.AsType[*engine.SettingsError](err); ok {
		return failed(refused.Cure, "%w", err)
	}
	if err != nil {
		return failed("outerloop-tick status shows how the runs stand", "%w", err)
	}
	fmt.Fprintf(c.Stdout, "run %s goes on with the next tick: %s\n", id, next)
	return nil
}
