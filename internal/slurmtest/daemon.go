package slurmtest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Daemon is one of a cluster's servers.
type Daemon string

// The daemons, in the order in which they are started. A cluster without
// accounting has neither the second nor the third.
const (
	Munged    Daemon = "munged"
	MariaDB   Daemon = "mariadbd"
	Slurmdbd  Daemon = "slurmdbd"
	Slurmctld Daemon = "slurmctld"
	Slurmd    Daemon = "slurmd"
)

func (c *Cluster) daemons() []Daemon {
	if c.opt.Accounting {
		return []Daemon{Munged, MariaDB, Slurmdbd, Slurmctld, Slurmd}
	}
	return []Daemon{Munged, Slurmctld, Slurmd}
}

// Start starts a daemon that is not running, and returns when it can be used.
func (c *Cluster) Start(ctx context.Context, d Daemon) error {
	if d == MariaDB {
		if err := c.installDB(ctx); err != nil {
			return err
		}
	}
	argv, env := c.commandLine(d)
	if err := c.keeper.start(d, argv, slices.Concat(baseEnv(), c.Env(), env), c.Log(d)); err != nil {
		return fmt.Errorf("start %s: %w", d, err)
	}
	if err := c.ready(ctx, d); err != nil {
		return fmt.Errorf("wait until %s is ready: %w", d, err)
	}
	if d == Slurmdbd {
		return c.addAccounts(ctx)
	}
	return nil
}

// Stop ends a daemon in an orderly way, within ten seconds or else by force.
func (c *Cluster) Stop(d Daemon) error { return c.keeper.stop(d, syscall.SIGTERM) }

// Kill ends a daemon at once.
func (c *Cluster) Kill(d Daemon) error { return c.keeper.stop(d, syscall.SIGKILL) }

// Freeze suspends a daemon: whoever asks it connects, and waits.
func (c *Cluster) Freeze(d Daemon) error { return c.keeper.signal(d, syscall.SIGSTOP) }

// Thaw lets a frozen daemon go on. It then answers whatever it was asked meanwhile,
// though nobody may be waiting any more.
func (c *Cluster) Thaw(d Daemon) error { return c.keeper.signal(d, syscall.SIGCONT) }

// commandLine runs every daemon in the foreground, so that it stays a child of
// the keeper.
func (c *Cluster) commandLine(d Daemon) (argv, env []string) {
	switch d {
	case Munged:
		return []string{
			program("munged"), "--foreground", "--force",
			"--key-file=" + c.path("munge.key"), "--socket=" + c.path("munge.socket"), "--pid-file=" + c.path("munge.pid"),
			"--log-file=" + c.path("munge.log"), "--seed-file=" + c.path("munge.seed"),
		}, nil
	case MariaDB:
		return []string{
			program("mariadbd"), "--no-defaults", "--user=root", "--datadir=" + c.path("db"), "--socket=" + c.path("db.socket"),
			"--pid-file=" + c.path("db.pid"), "--skip-networking", "--skip-log-bin",
			// Slurm's tables are small, and thrown away.
			"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0",
		}, nil
	case Slurmdbd:
		// Its own settings name a host and a port, and no socket.
		return []string{program("slurmdbd"), "-D"}, []string{"SLURM_CONF=" + c.path("slurm.conf"), "MYSQL_UNIX_PORT=" + c.path("db.socket")}
	case Slurmctld:
		return []string{program("slurmctld"), "-D", "-f", c.Config()}, nil
	default:
		return []string{program(string(d)), "-D", "-f", c.Config(), "-N", c.host}, nil
	}
}

// ready waits until a daemon can be used, and fails when it has ended instead.
func (c *Cluster) ready(ctx context.Context, d Daemon) error {
	var dialer net.Dialer
	dial := func(network, address string) bool {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
	return c.await(ctx, d, func() bool {
		switch d {
		case Munged:
			return dial("unix", c.path("munge.socket"))
		case MariaDB:
			return dial("unix", c.path("db.socket"))
		case Slurmdbd:
			return dial("tcp", "127.0.0.1:"+strconv.Itoa(c.ports.dbd))
		case Slurmctld:
			out, err := c.Run(ctx, "scontrol", "ping")
			return err == nil && strings.Contains(out, "is UP")
		default:
			out, err := c.Run(ctx, "sinfo", "--noheader", "--nodes", c.host, "--format", "%T")
			state := strings.Fields(out)
			return err == nil && len(state) > 0 && slices.Contains([]string{"idle", "mixed", "allocated"}, state[0])
		}
	})
}

// await polls until is says so, while the daemon lives.
func (c *Cluster) await(ctx context.Context, d Daemon, is func() bool) error {
	const step = 20 * time.Millisecond
	for !is() {
		if err := c.keeper.alive(d); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(step):
		}
	}
	return nil
}

// installDB makes an empty database, once.
func (c *Cluster) installDB(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, program("mariadb-install-db"), "--no-defaults", "--user=root", "--datadir="+c.path("db"),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	cmd.Env = baseEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	return nil
}

// addAccounts makes known who may submit, which slurmctld asks for when it starts.
func (c *Cluster) addAccounts(ctx context.Context) error {
	for _, args := range [][]string{
		{"add", "cluster", "rig"},
		{"add", "account", Account, Other},
		{"add", "user", "root", "account=" + Account + "," + Other, "defaultaccount=" + Account},
	} {
		// "Nothing new added" when it is there already, with exit status 1.
		out, err := c.Run(ctx, slices.Concat([]string{"sacctmgr", "--immediate", "--quiet"}, args)...)
		if err != nil && !strings.Contains(out, "Nothing new added") && !strings.Contains(out, "already exists") {
			return err
		}
	}
	return nil
}
