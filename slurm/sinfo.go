package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Nodes counts the nodes of a lane, one partition or a comma separated list, by
// state. A node that is in several of them counts once. A lane without nodes is an
// error: sinfo does not say whether there is such a partition.
func (c *Client) Nodes(ctx context.Context, lane string) (map[string]int, error) {
	out, err := c.caller.call(ctx, c.opt.Timeout, "", "sinfo",
		"--noheader", "--local", "--Node", "--partition="+lane, "--format=%N %T")
	if err != nil {
		return nil, fmt.Errorf("ask for the nodes of %s: %w", lane, err)
	}
	nodes := parseNodes(out)
	if len(nodes) == 0 {
		return nil, fmt.Errorf("ask for the nodes of %s: sinfo lists none; is there such a partition?", lane)
	}
	return nodes, nil
}

// parseNodes counts nodes by state, a node once. Slurm marks states with signs, for
// nodes that do not answer, are powered down, reserved or about to be rebooted;
// sinfo(1), NODE STATE CODES.
func parseNodes(out string) map[string]int {
	const marks = "*~#!%$@^-+"
	states := map[string]int{}
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 2 || seen[fields[0]] {
			continue
		}
		state := strings.TrimRight(fields[1], marks)
		if _, err := strconv.Atoi(state); err == nil || state == "" {
			continue
		}
		seen[fields[0]] = true
		states[state]++
	}
	return states
}
