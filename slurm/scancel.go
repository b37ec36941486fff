package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Cancel ends jobs, or single tasks of an array, by scancel. What waits is CANCELLED
// when it returns. What runs gets SIGTERM, and SIGKILL after the site's KillWait; it
// is COMPLETING until it is gone.
func (c *Client) Cancel(ctx context.Context, ids ...string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !isID(id) })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	defer c.forget()
	const most = 1000 // ids a call
	for some := range slices.Chunk(ids, most) {
		_, err := c.caller.call(ctx, c.opt.Timeout, "", "scancel", some...)
		if call, ok := errors.AsType[*callError](err); ok && call.exited() && overAlready(call.words) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cancel jobs %s: %w", strings.Join(some, " "), err)
		}
	}
	return nil
}

// overAlready says whether all that scancel complains of is jobs that have ended or
// that the controller does not know.
func overAlready(words string) bool {
	complaints := strings.Split(words, "scancel: ")[1:] // they were folded into one line
	return len(complaints) > 0 && !slices.ContainsFunc(complaints, func(s string) bool {
		s = strings.ToLower(s)
		return !strings.Contains(s, "invalid job id") && !strings.Contains(s, "already completing or completed") &&
			!strings.Contains(s, "is already complete")
	})
}
