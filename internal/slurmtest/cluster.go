package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrUnavailable is wrapped by the error of [Start] where this machine cannot run
// a cluster at all: it is not Linux, the caller is not root, or packages are missing.
var ErrUnavailable = errors.New("no Slurm cluster can be started here")

// Options choose the flavour of a cluster. The zero value is one without accounting.
type Options struct {
	// Accounting adds MariaDB and slurmdbd, the accounts "research" (the caller's
	// default) and "other", and has slurmctld refuse unknown accounts and QOS.
	Accounting bool

	// StoreComments keeps the comments of jobs in the accounting database, as
	// some sites do; others keep none.
	StoreComments bool

	// CPUs of the node, 0 for 16. Slurm is told not to compare them with what the
	// machine has.
	CPUs int

	// MinJobAge is how long slurmctld remembers a job that has ended, 0 for
	// Slurm's own default of 300 s.
	MinJobAge time.Duration

	// Config is appended to slurm.conf.
	Config string
}

// What a cluster looks like to its users.
const (
	GPUs    = 4       // of the node
	Lane    = "main"  // the partition with the node, and the default
	Spare   = "spare" // another partition with the same node
	Ghosts  = "ghost" // a partition of two nodes that are down
	Account = "research"
	Other   = "other" // an account
)

// Cluster is a running cluster. Its methods may be called by several goroutines.
type Cluster struct {
	opt    Options
	dir    string
	host   string
	ports  ports
	keeper *keeper
	close  func() error
}

// Start brings up a cluster and returns when its node takes jobs: in a tenth of a
// second on an idle machine, and four seconds with accounting, most of them
// MariaDB's. The caller closes it. ctx bounds the start only.
func Start(ctx context.Context, opt Options) (*Cluster, error) {
	if err := available(opt); err != nil {
		return nil, err
	}
	if opt.CPUs == 0 {
		opt.CPUs = 16
	}
	// Another process may take a port between the choice and the bind.
	const tries = 3
	var errs []error
	for range tries {
		c, err := start(ctx, opt)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("start a Slurm cluster: %w", errors.Join(errs...))
}

// available says what is missing.
func available(opt Options) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: it takes Linux, and this is %s", ErrUnavailable, runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it takes root", ErrUnavailable)
	}
	programs := []string{"munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo"}
	packages := "munge slurm-wlm"
	if opt.Accounting {
		programs = append(programs, "mariadb-install-db", "mariadbd", "slurmdbd", "sacctmgr")
		packages += " slurmdbd mariadb-server"
	}
	for _, p := range programs {
		if program(p) == "" {
			return fmt.Errorf("%w: there is no %s (on Debian: apt-get install %s)", ErrUnavailable, p, packages)
		}
	}
	return nil
}

// program finds a program, daemons included: cron and sudo often leave the sbin
// directories out of PATH. "" for none.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

func start(ctx context.Context, opt Options) (_ *Cluster, err error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	host, _, _ = strings.Cut(host, ".")
	// Short, for the path of a socket ends at 107 bytes.
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		return nil, err
	}
	k, err := startKeeper(dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	c := &Cluster{opt: opt, dir: dir, host: host, keeper: k, close: sync.OnceValue(k.close)}
	defer func() {
		if err != nil {
			err = errors.Join(c.explain(err), c.close())
		}
	}()
	if c.ports, err = freePorts(); err != nil {
		return nil, err
	}
	if err := c.writeConfig(); err != nil {
		return nil, err
	}
	for _, d := range c.daemons() {
		if err := c.Start(ctx, d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// explain adds the ends of the logs to an error: the daemons say why they would
// not start, and their directory is about to go.
func (c *Cluster) explain(err error) error {
	const end = 2000
	for _, d := range c.daemons() {
		log, readErr := os.ReadFile(c.path(string(d) + ".log"))
		if readErr != nil || len(log) == 0 {
			continue
		}
		err = fmt.Errorf("%w\n%s says: %s", err, d, log[max(len(log)-end, 0):])
	}
	return err
}

// Close ends everything that was started, jobs included, and removes the cluster's
// directory. It may be called again.
func (c *Cluster) Close() error { return c.close() }

// Config returns the path of slurm.conf.
func (c *Cluster) Config() string { return c.path("slurm.conf") }

// Host returns the name of the node that runs jobs.
func (c *Cluster) Host() string { return c.host }

// Log returns the path of a daemon's log.
func (c *Cluster) Log(d Daemon) string { return c.path(string(d) + ".log") }

// Env returns what makes Slurm's programs talk to this cluster, as KEY=value, to
// be added to an environment.
func (c *Cluster) Env() []string { return []string{"SLURM_CONF=" + c.Config()} }

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

// Run runs one of Slurm's programs against this cluster and returns what it
// printed, on both streams. The environment of the caller is not passed on.
func (c *Cluster) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program(args[0]), args[1:]...)
	cmd.Env = slices.Concat(baseEnv(), c.Env())
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), err
}

func baseEnv() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "HOME=/root", "USER=root"}
}
