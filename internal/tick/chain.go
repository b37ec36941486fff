package tick

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/slurm"
)

// chain is what resident.json holds.
type chain struct {
	Job       string            `json:"job"`
	Successor engine.Submission `json:"successor"`
}

// loadChain reads what this very job has queued before it was requeued; for any
// other job the chain begins anew.
func (r *resident) loadChain() error {
	raw, err := os.ReadFile(filepath.Join(r.root.Path(), residentFile))
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte("{}"), nil
	}
	var found chain
	if err == nil {
		err = json.Unmarshal(raw, &found)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", residentFile, err)
	}
	if found.Job == r.self {
		r.chain = found
	} else {
		r.chain = chain{Job: r.self}
	}
	return nil
}

func (r *resident) saveChain() error {
	raw, err := json.Marshal(r.chain)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(r.root.Path(), residentFile), append(raw, '\n'))
}

// succeed sees to it that one successor is queued. Its token is on disk before it
// is submitted, so that an answer that is lost makes no second one.
func (r *resident) succeed(ctx context.Context) error {
	s := &r.chain.Successor
	if s.ID != "" {
		return r.lookAfter(ctx)
	}
	fresh := s.Token == ""
	if fresh {
		*s = engine.Submission{Token: rand.Text(), At: time.Now().UTC()}
		if err := r.saveChain(); err != nil {
			return err
		}
	} else {
		id, err := r.client.Find(ctx, s.Token)
		if err != nil {
			return err
		}
		s.ID = id
	}
	if s.ID == "" {
		program, err := r.call.program(r.root, "")
		if err != nil {
			return err
		}
		return r.submit(ctx, program)
	}
	return r.saveChain()
}

func (r *resident) submit(ctx context.Context, program engine.Program) error {
	spec := residentSpec(r.root, program, engine.JobEnvironment(r.call.Getenv), r.plan, r.self)
	spec.Token = r.chain.Successor.Token
	id, err := r.client.Submit(ctx, spec)
	if err != nil {
		return err
	}
	r.chain.Successor.ID = id
	r.log.Info("successor queued", "job", id)
	return r.saveChain()
}

// lookAfter notices a successor that somebody has cancelled. A queue that cannot
// be had says nothing about it. What is asked for is shared with the tick, which
// comes next; only a successor that is missing there is looked for anew, since the
// answer may be older than it is.
func (r *resident) lookAfter(ctx context.Context) error {
	shared := &engine.Shared{Backend: r.client, Root: r.root}
	for _, ask := range []func(context.Context) ([]slurm.Row, error){shared.Queue, r.client.Queue} {
		rows, err := ask(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID == r.chain.Successor.ID {
				return nil
			}
		}
	}
	r.log.Warn("the successor is gone; queueing another", "job", r.chain.Successor.ID)
	r.chain.Successor = engine.Submission{}
	return r.succeed(ctx)
}

// stop ends the chain.
func (r *resident) stop(ctx context.Context) error {
	r.log.Info("paused: ending, and cancelling the successor", "successor", r.chain.Successor.ID)
	s := &r.chain.Successor
	if s.ID == "" && s.Token != "" {
		id, err := r.client.Find(ctx, s.Token)
		if err != nil {
			return err
		}
		s.ID = id
	}
	if s.ID == "" {
		return nil
	}
	if err := r.client.Cancel(ctx, s.ID); err != nil {
		return fmt.Errorf("cancelling the successor, job %s: %w", s.ID, err)
	}
	return nil
}
