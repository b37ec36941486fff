package slurm

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// Partition is one that the cluster has, as sinfo tells of it.
type Partition struct {
	Name    string
	Default bool   // where jobs go that name none
	Up      bool   // takes jobs that start
	Limit   string // the longest walltime, in Slurm's own form, such as 7-00:00:00 or infinite
	Nodes   int
}

// Partitions returns the cluster's partitions that this user may see, in the order in
// which the cluster has them.
func (c *Client) Partitions(ctx context.Context) ([]Partition, error) {
	out, err := c.caller.call(ctx, c.opt.Timeout, "", "sinfo", "--noheader", "--local", "--format=%P|%a|%l|%D")
	if err != nil {
		return nil, fmt.Errorf("ask for the partitions: %w", err)
	}
	return parsePartitions(out), nil
}

// parsePartitions reads a line for each partition. One whose nodes differ has several,
// and their nodes add up.
func parsePartitions(out string) (partitions []Partition) {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 {
			continue
		}
		nodes, err := strconv.Atoi(fields[3])
		if err != nil {
			continue
		}
		name, isDefault := strings.CutSuffix(fields[0], "*")
		if i := slices.IndexFunc(partitions, func(p Partition) bool { return p.Name == name }); i >= 0 {
			partitions[i].Nodes += nodes
			continue
		}
		partitions = append(partitions, Partition{name, isDefault, fields[1] == "up", fields[2], nodes})
	}
	return partitions
}

// Accounts returns the accounts that this user's jobs may be billed to, that which
// jobs have that name none first. A cluster without an accounting database is an error.
func (c *Client) Accounts(ctx context.Context) ([]string, error) {
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("ask for the accounts: %w", err)
	}
	out, err := c.caller.call(ctx, c.opt.Timeout, "", "sacctmgr", "--noheader", "--parsable2", "--readonly", "--associations",
		"show", "user", me.Username, "format=DefaultAccount,Account")
	if err != nil {
		return nil, fmt.Errorf("ask for the accounts: %w", err)
	}
	return parseAccounts(out), nil
}

// parseAccounts reads a line for each association, the default account in all of them.
func parseAccounts(out string) (accounts []string) {
	for line := range strings.Lines(out) {
		first, account, ok := strings.Cut(strings.TrimSpace(line), "|")
		if !ok {
			continue
		}
		for _, name := range []string{first, account} {
			if name != "" && !slices.Contains(accounts, name) {
				accounts = append(accounts, name)
			}
		}
	}
	return accounts
}
