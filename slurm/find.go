package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Find returns the id of the job that was submitted with the token. It looks in the
// controller's queue, where ended jobs stay for minutes, and in the accounting
// database. "" means that both have answered, the queue once more after a while, and
// neither has it: a submission that was cut off may reach the controller late. Where
// the site has no accounting, the queue alone decides; where the database is out of
// reach, nothing does, and Find returns an error.
func (c *Client) Find(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", errors.New("find a job: it was submitted without a token")
	}
	for look := range 2 {
		if look > 0 {
			if err := sleep(ctx, c.opt.Settle); err != nil {
				return "", fmt.Errorf("find a job: %w", err)
			}
		}
		l, err := c.list(ctx)
		if err != nil {
			return "", fmt.Errorf("find a job: %w", err)
		}
		if id := l.byToken(token); id != "" {
			return id, nil
		}
	}
	out := c.accountingOut()
	if out == nil {
		id, err := c.accountToken(ctx, token)
		if err == nil {
			return id, nil
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("find a job: %w", err)
		}
		out = c.noteOutage(err)
	}
	if out.disabled {
		return "", nil
	}
	return "", fmt.Errorf("find a job: it is not in the queue, and may have ended: accounting is out of reach: %w", out.err)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
