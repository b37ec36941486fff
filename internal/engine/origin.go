package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/origin"
	"github.com/outerloop-go/outerloop/watcher"
)

// syncTime is how long a fetch may take: the first of a large repository takes minutes.
const syncTime = 20 * time.Minute

// syncHandler brings an author the branches of the repository that the operator named.
func (e *Engine) syncHandler(r *Run) watcher.Handler {
	return func(ctx context.Context) (any, error) {
		if r.Origin == "" {
			return nil, errors.New("this run has no origin: its operator names one with outerloop-tick new --origin")
		}
		branches, moved, err := e.sync(ctx, r)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		if workspace, ok := errors.AsType[*origin.WorkspaceError](err); ok {
			return nil, workspace
		}
		if err != nil {
			// What git says may name hosts and paths of the operator's.
			e.Log.Warn("origin could not be fetched", "run", r.ID, "error", err)
			return nil, errors.New("the kernel could not fetch; its operator finds the cause in the kernel's log")
		}
		return channel.SyncAnswer{
			At: channel.Seconds(e.Now()), Branches: branches, Moved: append([]channel.Moved{}, moved[:min(len(moved), channel.MaxMoved)]...),
		}, nil
	}
}

// sync has one mirror for all runs of a state root that have the same origin.
func (e *Engine) sync(ctx context.Context, r *Run) (branches int, moved []channel.Moved, err error) {
	digest := sha256.Sum256([]byte(r.Origin))
	dir := e.Root.join("origin")
	if err := durable.MkdirAll(dir); err != nil {
		return 0, nil, err
	}
	mirror, err := origin.Open(ctx, e.Root.join("origin", hex.EncodeToString(digest[:8])+".git"), r.Origin, e.Log)
	if err != nil {
		return 0, nil, err
	}
	return mirror.Sync(ctx, r.Workspace)
}
