package slurmtest

import (
	"context"
	"os"
	"path/filepath"
)

// Drain takes the node out of service: it starts no more jobs.
func (c *Cluster) Drain(ctx context.Context) error {
	_, err := c.Run(ctx, "scontrol", "update", "nodename="+c.host, "state=drain", "reason=test")
	return err
}

// Resume puts a drained node back into service.
func (c *Cluster) Resume(ctx context.Context) error {
	_, err := c.Run(ctx, "scontrol", "update", "nodename="+c.host, "state=resume")
	return err
}

// LoseMemory has slurmctld forget every job and count ids from 1 again, as it does
// when its state directory is lost. The accounting database keeps what it has. No
// job may be running.
func (c *Cluster) LoseMemory(ctx context.Context) error {
	if err := c.Kill(Slurmctld); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(c.path("state"), "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		// Without its cluster's id slurmctld would not start again.
		if filepath.Base(file) == "clustername" {
			continue
		}
		if err := os.RemoveAll(file); err != nil {
			return err
		}
	}
	if err := c.Start(ctx, Slurmctld); err != nil {
		return err
	}
	return c.ready(ctx, Slurmd)
}
