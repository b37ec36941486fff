package slurm

import (
	"cmp"
	"crypto/rand"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Options are the settings of a [Client]. The zero value talks to the cluster that
// the environment names.
type Options struct {
	// Account, Partition and QOS are for jobs that name none themselves.
	Account, Partition, QOS string

	// Config is the path of slurm.conf, "" for SLURM_CONF of the environment or
	// else Slurm's own default.
	Config string

	// Path is where Slurm's programs are looked for, "" for PATH.
	Path string

	// Timeout is how long one query may take, 0 for a minute. A submission has
	// twice that: a controller that is busy answers sbatch last. The context of a
	// call may end it earlier.
	Timeout time.Duration

	// Settle is how long Find waits before it looks a second time, 0 for 3
	// seconds. A submission whose sbatch was killed may still lie in the
	// controller's socket when the controller answers the first look.
	Settle time.Duration

	Now func() time.Time // nil for time.Now
	Log *slog.Logger     // nil to discard
}

// Client is the [Backend] that is a Slurm cluster. It keeps nothing but a few
// recent answers, may be used by any number of goroutines, and has nothing to close.
//
// It sees the jobs of the user that it runs as. Three of Slurm's programs answer
// its questions: squeue knows every job that has not ended and, for MinJobAge
// (five minutes, unless the site has changed it), those that have; sacct knows all
// others, where there is an accounting database; sinfo knows the nodes. Only
// [Client.Accounts], which is for setting up, asks sacctmgr.
type Client struct {
	opt    Options
	caller *caller
	mark   string // what nobody can put into the name of a job; see squeueFormat

	mu      sync.Mutex
	listing *listing // the latest, nil where it is no longer to be trusted
	outage  *outage  // of accounting, nil for none
}

var _ Backend = (*Client)(nil)

// New returns a client. It runs nothing yet; see [Client.Installed].
func New(opt Options) *Client {
	if opt.Timeout == 0 {
		opt.Timeout = time.Minute
	}
	if opt.Settle == 0 {
		opt.Settle = 3 * time.Second
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	return &Client{opt: opt, caller: newCaller(&opt), mark: rand.Text()[:8]}
}

// Installed says whether there is an sbatch to call, which is what makes a machine
// one of a cluster's.
func (c *Client) Installed() bool {
	_, err := c.caller.look("sbatch")
	return !errors.Is(err, exec.ErrNotFound)
}

// outage is a time in which accounting is not asked again.
type outage struct {
	until    time.Time
	disabled bool // there is no accounting, and no use in waiting for it
	err      error
}

// How long an outage is remembered. Settings do not change often. A database that
// is out of reach may be back soon, but each question that runs into its time
// limit holds up everything else.
const (
	disabledFor    = 10 * time.Minute
	unreachableFor = time.Minute
)

// accountingOut returns the outage that lasts, nil for none.
func (c *Client) accountingOut() *outage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outage != nil && c.opt.Now().Before(c.outage.until) {
		return c.outage
	}
	return nil
}

// noteOutage remembers that sacct has failed.
func (c *Client) noteOutage(err error) *outage {
	o := &outage{err: err, until: c.opt.Now().Add(unreachableFor)}
	// "Slurm accounting storage is disabled"
	if call, ok := errors.AsType[*callError](err); ok && strings.Contains(call.words, "accounting storage is disabled") {
		o.disabled, o.until = true, c.opt.Now().Add(disabledFor)
	}
	c.opt.Log.Warn("accounting cannot be asked; the controller's own memory has to do", "until", o.until, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outage = o
	return o
}

// forget drops the latest listing, after something was changed in the queue.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listing = nil
}
