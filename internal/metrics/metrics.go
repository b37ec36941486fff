// Package metrics tells a Prometheus server how the runs of a state root fare, in a
// text file for its node exporter's textfile collector.
//
// Passes are processes that come and go, and operators remove what old runs have left,
// while a counter must never fall. So what every run has contributed is kept in a file
// of the state root, and only ever replaced by more.
package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
)

// keptFile and lockName are in the state root.
const (
	keptFile = "metrics.json"
	lockName = "metrics.lock"
	lockWait = 30 * time.Second
	version  = 1
)

// kept is what keptFile holds.
type kept struct {
	Version   int                      `json:"version"`
	Runs      map[string]*contribution `json:"runs"`
	Scheduler map[string]Queries       `json:"scheduler"` // by method
}

// Queries counts what a scheduler was asked.
type Queries struct {
	Asked   int     `json:"asked"`
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"`
}

// Collect brings what is kept up to date and returns the text of the metrics. fresh is
// what this process has asked the scheduler since it last called Collect; it is in the
// file once that has returned without an error, and counts again where it has not.
//
// Several processes may call it at once for one state root.
func Collect(ctx context.Context, root engine.Root, now time.Time, fresh map[string]Queries) ([]byte, error) {
	dir, err := dirfd.Open(root.Path())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	unlock, err := dir.Lock(ctx, lockName, lockWait)
	if err != nil {
		return nil, fmt.Errorf("waiting for the metrics: %w", err)
	}
	text, err := collect(root, now, fresh)
	return text, errors.Join(err, unlock())
}

func collect(root engine.Root, now time.Time, fresh map[string]Queries) ([]byte, error) {
	path := filepath.Join(root.Path(), keptFile)
	k, err := load(path)
	if err != nil {
		return nil, err
	}
	for method, q := range fresh {
		was := k.Scheduler[method]
		k.Scheduler[method] = Queries{was.Asked + q.Asked, was.Failed + q.Failed, was.Seconds + q.Seconds}
	}
	states, err := k.update(root)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	if err := durable.WriteFile(path, append(raw, '\n')); err != nil {
		return nil, fmt.Errorf("keeping the metrics: %w", err)
	}
	return k.text(states, now), nil
}

func load(path string) (*kept, error) {
	k := &kept{Version: version}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, k)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if k.Version != version {
		return nil, fmt.Errorf("%s is of version %d and this program knows %d", path, k.Version, version)
	}
	if k.Runs == nil {
		k.Runs = make(map[string]*contribution)
	}
	if k.Scheduler == nil {
		k.Scheduler = make(map[string]Queries)
	}
	return k, nil
}

// update looks at the runs that may have changed and counts all by their state. A run
// that has ended is read once more, and then its contribution stands.
func (k *kept) update(root engine.Root) (states map[string]int, err error) {
	ids, err := root.Runs()
	if err != nil {
		return nil, err
	}
	states = make(map[string]int)
	for _, id := range ids {
		c := k.Runs[id]
		if c == nil {
			c = &contribution{}
			k.Runs[id] = c
		}
		if c.Ended == "" {
			story, err := root.Story(id)
			if err != nil {
				states["broken"]++
				continue
			}
			state := c.add(&story)
			states[state]++
			continue
		}
		states[c.Ended]++
	}
	return states, nil
}
