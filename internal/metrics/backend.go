package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Counter is a backend that counts what it is asked.
type Counter struct {
	slurm.Backend

	mu       sync.Mutex
	byMethod map[string]Queries
}

// Fresh returns what was asked since it was called last. What could not be kept is put
// back with [Counter.Return].
func (c *Counter) Fresh() map[string]Queries {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := c.byMethod
	c.byMethod = nil
	return fresh
}

// Return takes back what Fresh gave.
func (c *Counter) Return(fresh map[string]Queries) {
	for method, q := range fresh {
		c.add(method, q)
	}
}

func (c *Counter) add(method string, q Queries) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byMethod == nil {
		c.byMethod = make(map[string]Queries)
	}
	was := c.byMethod[method]
	c.byMethod[method] = Queries{was.Asked + q.Asked, was.Failed + q.Failed, was.Seconds + q.Seconds}
}

// done counts one query. A job that was refused, or a question that a backend has no
// answer to, is answered.
func (c *Counter) done(method string, began time.Time, err error) {
	q := Queries{Asked: 1, Seconds: time.Since(began).Seconds()}
	var refused *slurm.RefusedError
	if err != nil && !errors.Is(err, slurm.ErrUnsupported) && !errors.As(err, &refused) {
		q.Failed = 1
	}
	c.add(method, q)
}

// Submit counts as "submit".
func (c *Counter) Submit(ctx context.Context, spec slurm.JobSpec) (id string, err error) {
	began := time.Now()
	id, err = c.Backend.Submit(ctx, spec)
	c.done("submit", began, err)
	return id, err
}

// Find counts as "find".
func (c *Counter) Find(ctx context.Context, token string) (id string, err error) {
	began := time.Now()
	id, err = c.Backend.Find(ctx, token)
	c.done("find", began, err)
	return id, err
}

// Queue counts as "queue".
func (c *Counter) Queue(ctx context.Context) (rows []slurm.Row, err error) {
	began := time.Now()
	rows, err = c.Backend.Queue(ctx)
	c.done("queue", began, err)
	return rows, err
}

// Outcomes counts as "outcomes".
func (c *Counter) Outcomes(ctx context.Context, ids []string) (all map[string]slurm.Outcome, err error) {
	began := time.Now()
	all, err = c.Backend.Outcomes(ctx, ids)
	c.done("outcomes", began, err)
	return all, err
}

// Cancel counts as "cancel".
func (c *Counter) Cancel(ctx context.Context, ids ...string) error {
	began := time.Now()
	err := c.Backend.Cancel(ctx, ids...)
	c.done("cancel", began, err)
	return err
}

// Nodes counts as "nodes".
func (c *Counter) Nodes(ctx context.Context, lane string) (byState map[string]int, err error) {
	began := time.Now()
	byState, err = c.Backend.Nodes(ctx, lane)
	c.done("nodes", began, err)
	return byState, err
}
