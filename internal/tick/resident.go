package tick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/settings"
	"github.com/outerloop-go/outerloop/slurm"
)

// Files of the state root that the resident tick reads and writes.
const (
	pauseFile     = "PAUSE"         // made by the operator: nothing starts while it is there
	residentFile  = "resident.json" // which job is the resident tick, and its successor
	programFile   = "program.json"  // where the operator's program lies
	heartbeatFile = "heartbeat"     // when the resident tick last ticked
	logsDir       = "logs"
)

func residentCommand() command {
	return command{
		name: "resident", use: "--root DIR --minutes N --cadence SPAN",
		detail: "Is the loop as a Slurm job. The program calls this itself; see start.",
		run:    runResident,
	}
}

// resident is a job that ticks until shortly before its walltime, with one
// successor queued behind it.
type resident struct {
	call   *call
	root   engine.Root
	client *slurm.Client
	log    *slog.Logger
	plan   startPlan
	self   string // this job
	until  time.Time
	limit  time.Duration // of a tick
	chain  chain
}

// handOver is how long before its walltime the resident tick makes room for its
// successor: more than the time limit of a tick, less than any walltime.
const handOver = 3 * time.Minute

// tickLimit is how long one tick may take. One that hangs on a filesystem or a
// scheduler is killed, and the loop goes on.
const tickLimit = 2 * time.Minute

func runResident(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	minutes := c.flags.Int("minutes", 0, "walltime of the job in `MINUTES`")
	every := c.flags.Duration("cadence", defaultCadence, "`SPAN` between two ticks")
	if _, err := c.parse(args); err != nil {
		return err
	}
	if *minutes < 1 || *every <= 0 || c.job() == "" {
		return wrong("this command is for the program itself to call", "resident needs --minutes and --cadence, and to be a job")
	}
	root, err := c.root(*rootFlag)
	if err != nil {
		return err
	}
	placed, _, err := readCompute(root)
	if err != nil {
		return err
	}
	if placed.Kind != kindSlurm {
		return failed("outerloop-tick start --account ACCOUNT", "%w", errNotSlurm)
	}
	r := &resident{
		call: c, root: root, log: c.log(), self: c.job(),
		client: slurm.New(slurm.Options{Account: placed.Account, Partition: placed.Partition, QOS: placed.QOS, Log: c.log()}),
		plan:   startPlan{compute: placed, root: settings.Value{Text: root.Path()}, cadence: *every, resident: *minutes},
		until:  time.Now().Add(max(time.Duration(*minutes)*time.Minute-handOver, time.Minute)),
		limit:  tickLimit,
	}
	return r.run(ctx)
}

// run ticks until the walltime nears, the state root is paused, the program was
// upgraded, or the job is told to end. In all but the second case the successor
// takes over: it starts when this job has ended, however it did.
func (r *resident) run(ctx context.Context) error {
	if err := r.loadChain(); err != nil {
		return err
	}
	for ctx.Err() == nil && time.Now().Before(r.until) {
		if paused(r.root) {
			return r.stop(ctx)
		}
		if upgraded, err := r.upgrade(ctx); upgraded || err != nil {
			return err
		}
		// Trouble with the scheduler passes; the next round tries again.
		if err := r.succeed(ctx); err != nil {
			r.log.Error("the successor is not queued yet", "error", err)
		}
		r.tick(ctx)
		r.beat()
		select {
		case <-ctx.Done():
		case <-time.After(min(r.plan.cadence, max(time.Until(r.until), 0))):
		}
	}
	r.log.Info("handing over", "job", r.self, "successor", r.chain.Successor.ID)
	return nil
}

// tick makes one pass as a process of its own, which is killed with all that it
// has started when it takes too long: it must not take the loop along.
func (r *resident) tick(ctx context.Context) {
	program, err := r.call.program(r.root, "")
	if err != nil {
		r.log.Error("tick failed", "error", err)
		return
	}
	limit, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	argv := program.Command("--root", r.root.Path(), "--verbose")
	cmd := exec.CommandContext(limit, argv[0], argv[1:]...)
	cmd.Env = engine.JobEnvironment(r.call.Getenv)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	out, err := r.dayLog()
	if err != nil {
		r.log.Error("no log file for today", "error", err)
	} else {
		defer out.Close()
		cmd.Stdout, cmd.Stderr = out, out
	}
	if err := cmd.Run(); err != nil {
		r.log.Error("tick failed", "error", err)
	}
}

// keptLogs is how many daily logs are kept.
const keptLogs = 30

// dayLog opens the log file of the day and removes those that are too old.
func (r *resident) dayLog() (io.WriteCloser, error) {
	dir := filepath.Join(r.root.Path(), logsDir)
	path := filepath.Join(dir, "tick-"+time.Now().Format(time.DateOnly)+".log")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		old, _ := filepath.Glob(filepath.Join(dir, "tick-*.log")) // in the order of their days
		for len(old) >= keptLogs {
			os.Remove(old[0])
			old = old[1:]
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// beat says that the loop lives. It is not synced: it is only of use while it is
// fresh.
func (r *resident) beat() {
	line := fmt.Sprintf("%s job %s\n", time.Now().UTC().Format(time.RFC3339), r.self)
	if err := renameio.WriteFile(filepath.Join(r.root.Path(), heartbeatFile), []byte(line), 0o600); err != nil {
		r.log.Error("no heartbeat", "error", err)
	}
}
