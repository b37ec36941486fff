package tick

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/internal/settings"
)

func newCommand() command {
	return command{
		name: "new", use: "--prompt FILE [--judge RUN] [flags] [-- COMMAND [ARG …]]",
		what: "make a run; the next tick starts it",
		detail: strings.TrimSpace(`
Makes a run: an author's line of work. COMMAND is the author's program. It is
started for each leg with the prompt on standard input, the workspace as its
working directory and the syscall-* programs on its PATH. Without one it is what the
setting OUTERLOOP_AUTHOR says, as a command for sh -c, with OUTERLOOP_AUTHOR_READ, paths
parted by colons, to read, and the network where OUTERLOOP_AUTHOR_NETWORK is yes.
outerloop-tick init writes these.

With --judge the run is a judge's: its workspace has copies of what the named runs have
submitted, of their reports and of what their jobs printed, and it ends with a verdict.
A judge launches nothing and has no budget, so flags for these do not go with it.

Examples:
  outerloop-tick new --prompt task.md --workspace ~/src/model -- claude -p
  outerloop-tick new --prompt task.md --workspace . --gate 'make check' -- ./author.sh
  outerloop-tick new --prompt what-counts.md --judge first --judge second -- claude -p`),
		run: runNew,
	}
}

// newFlags are the flags of new that are not kept in the run as they are.
type newFlags struct {
	root, prompt, sandbox *string
	gpuHours              *float64
	place                 placeFlags
}

func (c *call) newFlags(n *engine.NewRun) newFlags {
	f := c.flags
	f.StringVar(&n.ID, "run", "", "`NAME` of the run; one is made up where it is not given")
	f.Func("judge", "`RUN` that ended with a submit and is to be judged; may be given again", func(run string) error {
		n.Judges = append(n.Judges, engine.Judged{Run: run})
		return nil
	})
	f.StringVar(&n.Agent, "agent", "", "`NAME` of the agent, as other agents see it; the run's where it is not given")
	f.StringVar(&n.Workspace, "workspace", "", "`DIR` the author works in; a new one in the state root where it is not given")
	f.IntVar(&n.Budget.Launches, "launches", 24, "`N` launches in all; a sweep counts as one")
	f.IntVar(&n.Budget.Sleeps, "sleeps", 12, "`N` sleeps in all")
	f.DurationVar(&n.LegTime.Duration, "leg-time", time.Hour, "walltime of a leg, as `SPAN` such as 90m")
	f.Func("read", "`PATH` that legs and jobs may read, at that very path; may be given again", func(path string) error {
		n.Read = append(n.Read, path)
		return nil
	})
	f.BoolVar(&n.Network, "network", false, "give the author the machine's network; jobs never have it")
	f.StringVar(&n.Origin, "origin", "", "`URL` of the repository whose branches syscall-sync brings the author as origin/*; no password in it")
	f.StringVar(&n.Gate, "gate", "", "`COMMAND` for sh -c that measures a submit on its seal; exit 0 accepts it")
	f.IntVar(&n.GateMinutes, "gate-minutes", 60, "walltime of the gate in `MINUTES` where the submit declares none")
	f.IntVar(&n.CPUs, "cpus", 1, "`N` CPUs for a task of a launch")
	f.IntVar(&n.MemoryMB, "memory", 0, "`MB` of memory for a task of a launch")
	f.IntVar(&n.GPUs, "gpus", 0, "`N` GPUs for a task of a launch")
	f.IntVar(&n.MaxGPUs, "max-gpus", 0, "`N` GPUs that the tasks of one sweep may have at once; 0 for no bound")
	return newFlags{
		root:     c.rootFlag(),
		prompt:   f.String("prompt", "", "`FILE` with the task, - for standard input"),
		sandbox:  f.String("sandbox", "", "`KIND`: bwrap, none, or auto for bwrap where it works (default OUTERLOOP_SANDBOX, else auto)"),
		gpuHours: f.Float64("gpu-hours", -1, "`HOURS` of one GPU in all; no bound where it is not given"),
		place:    c.placeFlags(),
	}
}

func runNew(ctx context.Context, c *call, args []string) error {
	n := engine.NewRun{}
	f := c.newFlags(&n)
	rest, err := c.parse(args)
	if err != nil {
		return err
	}
	n.Command = rest
	set, err := c.settings()
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		if err := usualAuthor(set, &n); err != nil {
			return err
		}
	}
	if *f.gpuHours != -1 {
		n.Budget.GPUHours = f.gpuHours
	}
	if n.Role() == engine.Judge {
		c.dropDefaults(&n)
	}
	if *f.prompt == "" {
		return wrong("give --prompt FILE, or --prompt - for standard input", "no prompt: the %s would not know what to do", n.Role())
	}
	if n.Prompt, err = c.readPrompt(*f.prompt); err != nil {
		return err
	}
	if n.Sandbox, err = c.chooseSandbox(ctx, set.Flag("--sandbox", *f.sandbox, "SANDBOX")); err != nil {
		return err
	}
	path, err := c.rootPath(*f.root)
	if err != nil {
		return err
	}
	root, err := createRoot(path)
	if err != nil {
		return err
	}
	if err := c.settle(root, f.place); err != nil {
		return err
	}
	return c.makeRun(ctx, root, n, *f.root)
}

// usualAuthor takes the author's command from the settings, and what that needs along
// with it: another command of the operator's gets neither.
func usualAuthor(set *settings.Settings, n *engine.NewRun) error {
	author := set.Get("AUTHOR")
	command, err := author.Line()
	if err != nil {
		return wrong("write it on one line", "%w", err)
	}
	if command == "" {
		return nil // which is refused with the rest of what the run lacks
	}
	n.Command = []string{"sh", "-c", command}
	n.Read = append(n.Read, filepath.SplitList(set.Get("AUTHOR_READ").Text)...)
	open, err := yesOrNo(set.Get("AUTHOR_NETWORK"))
	n.Network = n.Network || open
	return err
}

// yesOrNo reads a setting that is one of the two, no where it is not set.
func yesOrNo(v settings.Value) (bool, error) {
	switch v.Text {
	case "yes":
		return true, nil
	case "no", "":
		return false, nil
	}
	return false, wrong("write yes or no", "%s is %q", v.From, v.Text)
}

// dropDefaults takes from a judge's run what only an author has and nobody asked for.
func (c *call) dropDefaults(n *engine.NewRun) {
	given := make(map[string]bool)
	c.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]*int{
		"launches": &n.Budget.Launches, "sleeps": &n.Budget.Sleeps, "gate-minutes": &n.GateMinutes,
	} {
		if !given[name] {
			*value = 0
		}
	}
}

// makeRun makes the run in a state root whose backend is settled.
func (c *call) makeRun(ctx context.Context, root engine.Root, n engine.NewRun, rootFlag string) error {
	placed, _, err := readCompute(root)
	if err != nil {
		return err
	}
	if err := placed.checkTask(n); err != nil {
		return err
	}
	for _, j := range n.Judges {
		if err := known(root, j.Run); err != nil {
			return err
		}
	}
	id, err := engine.New(ctx, root, n, time.Now(), slog.New(slog.DiscardHandler))
	if bad, ok := errors.AsType[*engine.SettingsError](err); ok {
		return wrong(bad.Cure, "%w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, id)
	if trouble := authorTrouble(n); trouble != "" {
		fmt.Fprintf(c.Stderr, "outerloop-tick: warning: %s\n", trouble)
	}
	c.sayReady(id, n, placed, root, rootFlag)
	return nil
}

// sayReady says what has become of the call, and what comes next. Standard output
// has the name alone, for scripts.
func (c *call) sayReady(id string, n engine.NewRun, placed compute, root engine.Root, rootFlag string) {
	confined := string(n.Sandbox)
	switch {
	case n.Sandbox == sandbox.None:
	case n.Network:
		confined += ", with network"
	default:
		confined += ", no network"
	}
	call := func(words ...string) string {
		if rootFlag != "" {
			words = append(words, "--root", rootFlag)
		}
		return channel.Quote(append([]string{"outerloop-tick"}, words...))
	}
	state, next := "ready", call("--loop")+" starts it"
	switch {
	case paused(root):
		state, next = "ready, and the state root paused", call("resume")+" takes that back"
	case placed.Kind == kindSlurm:
		next = call("start") + " sees to it, unless a resident tick does already"
	}
	fmt.Fprintf(c.Stderr, "outerloop-tick: %s is %s; %s (sandbox: %s)\n", id, state, next, confined)
}

// chooseSandbox settles how authors and jobs of the run are confined, for the
// whole of its life: a machine that has no bwrap must not run them without.
func (c *call) chooseSandbox(ctx context.Context, kind settings.Value) (sandbox.Kind, error) {
	switch kind.Text {
	case "none":
		c.warnUnconfined("because " + kind.From + " says none")
		return sandbox.None, nil
	case "bwrap", "auto", "":
		found, reason := sandbox.Detect(ctx)
		if reason == nil {
			return found, nil
		}
		if kind.Text == "bwrap" {
			return "", failed("install or allow it, or accept the risk with --sandbox none", "bwrap does not work here: %v", reason)
		}
		c.warnUnconfined(reason.Error())
		return sandbox.None, nil
	}
	return "", wrong("use bwrap, none or auto", "there is no sandbox %q%s", kind.Text, named(kind))
}

func (c *call) warnUnconfined(why string) {
	fmt.Fprintf(c.Stderr, "outerloop-tick: WARNING: NO SANDBOX: the author and its jobs will run with all rights of %s (%s)\n", userName(), why)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return "user " + u.Username
	}
	return fmt.Sprintf("user %d", os.Getuid())
}

// readPrompt reads the task, and one byte past the bound so that a larger one
// is refused and not cut.
func (c *call) readPrompt(file string) ([]byte, error) {
	const cure = "--prompt names a text file with the task, or is - for standard input"
	in := c.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, failed(cure, "the prompt %s is not there", file)
		}
		if err != nil {
			return nil, failed(cure, "reading the prompt: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, engine.MaxPromptBytes+1))
	if err != nil {
		return nil, failed(cure, "reading the prompt: %w", err)
	}
	if len(text) == 0 {
		return nil, failed("write the task into it", "the prompt %s is empty", file)
	}
	return text, nil
}
