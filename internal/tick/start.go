package tick

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/settings"
	"github.com/outerloop-go/outerloop/slurm"
)

func startCommand() command {
	return command{
		name: "start", use: "[--root DIR] [--account ACCOUNT] [--partition PARTITION] [--local] [--dry-run]",
		what: "start the loop: as a Slurm job that keeps itself alive, or here",
		detail: strings.TrimSpace(`
With sbatch on the PATH it submits the resident tick, a job that passes over the
runs again and again and queues its own successor, and returns. If there is one
already it submits nothing. Elsewhere, or with --local, it is the loop itself, in
the foreground.

Settings come from the flags, then from the environment, then from
~/.config/outerloop/.env: OUTERLOOP_COMPUTE (local or slurm), _ROOT, _ACCOUNT,
_PARTITION, _GPU_ACCOUNT, _GPU_PARTITION, _QOS, _CADENCE_MIN, _RESIDENT_MINUTES. They are
read here, once: a loop that runs is not moved by editing them.

Examples:
  outerloop-tick start --root /shared/me/outerloop --account abc123 --partition cpu_short
  outerloop-tick start --local`),
		run: runStart,
	}
}

// defaultResidentMinutes is the walltime of the resident tick: six hours fits the
// short partitions of most clusters, and it hands over to its successor.
const defaultResidentMinutes = 360

// startPlan is what start is going to do.
type startPlan struct {
	compute  compute
	root     settings.Value
	cadence  time.Duration // between two ticks
	resident int           // walltime in minutes
}

func runStart(ctx context.Context, c *call, args []string) error {
	rootFlag := c.rootFlag()
	place := c.placeFlags()
	dryRun := c.flags.Bool("dry-run", false, "print the command and end")
	verbs := c.flags.String("verbs", "", "`DIR` with the syscall-* programs; that of this program where it is not given")
	if rest, err := c.parse(args); err != nil {
		return err
	} else if len(rest) > 0 {
		return wrong("outerloop-tick start --help shows what it takes", "start takes no arguments")
	}
	set, err := c.settings()
	if err != nil {
		return err
	}
	plan, err := c.plan(set, place, *rootFlag)
	if err != nil {
		return err
	}
	if plan.compute.Kind == kindLocal {
		return c.startLocal(ctx, plan, *verbs, *dryRun)
	}
	return c.startSlurm(ctx, plan, *verbs, *dryRun)
}

// plan reads everything that start decides from, before it does anything.
func (c *call) plan(s *settings.Settings, place placeFlags, rootFlag string) (startPlan, error) {
	root := s.Flag("--root", rootFlag, "ROOT")
	chosen, err := c.chosen(s, place, rootFlag)
	if err != nil {
		return startPlan{}, err
	}
	p := startPlan{compute: chosen}
	if root.Text == "" && chosen.Kind == kindSlurm {
		return startPlan{}, wrong("give --root DIR, or set OUTERLOOP_ROOT, in the environment or in ~/.config/outerloop/.env",
			"a cluster needs the state root on a filesystem that its nodes share, and none is set")
	}
	if p.root, err = c.rootPath(rootFlag); err != nil {
		return startPlan{}, err
	}
	if p.resident, err = s.Get("RESIDENT_MINUTES").Int(5, defaultResidentMinutes); err != nil {
		return startPlan{}, wrong("give it minutes, such as OUTERLOOP_RESIDENT_MINUTES=360", "%w", err)
	}
	p.cadence, err = cadence(s.Get("CADENCE_MIN"))
	return p, err
}

// chosen is where the jobs of a state root run: what it has been made for, unless
// flags say otherwise.
func (c *call) chosen(s *settings.Settings, place placeFlags, rootFlag string) (compute, error) {
	kept, known := compute{GPUs: -1}, false
	if at, err := c.rootPath(rootFlag); err == nil {
		if r, err := engine.OpenRoot(at.Text); err == nil {
			if kept, known, err = readCompute(r); err != nil {
				return compute{}, err
			}
		}
	}
	if known && !*place.local && *place.account == "" && *place.partition == "" {
		return kept, nil
	}
	return place.choose(s, kept)
}

// defaultCadence is the pause between the ticks of a loop. Runs do not wait for
// it: a wake is a job that the cluster starts.
const defaultCadence = time.Minute

// cadence reads the pause, a positive number of minutes.
func cadence(v settings.Value) (time.Duration, error) {
	if v.Text == "" {
		return defaultCadence, nil
	}
	minutes, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	if err != nil || !(minutes > 0) || minutes > 24*60 {
		return 0, wrong("give it minutes, such as OUTERLOOP_CADENCE_MIN=5", "%s must be a positive number of minutes, got %q", v.From, v.Text)
	}
	return time.Duration(minutes * float64(time.Minute)), nil
}

func (c *call) startLocal(ctx context.Context, p startPlan, verbs string, dryRun bool) error {
	if dryRun {
		fmt.Fprintln(c.Stdout, channel.Quote([]string{"outerloop-tick", "--root", p.root.Text, "--loop"}))
		return nil
	}
	root, err := createRoot(p.root)
	if err != nil {
		return err
	}
	if err := p.compute.save(root); err != nil {
		return err
	}
	e, err := c.engine(root, verbs, c.log())
	if err != nil {
		return err
	}
	set, err := c.settings()
	if err != nil {
		return err
	}
	show := &after{}
	if err := show.settle(set); err != nil {
		return err
	}
	show.watch(e)
	fmt.Fprintf(c.Stderr, "outerloop-tick: local loop, state in %s; Ctrl-C stops it, and the records resume it\n", p.root.Text)
	return c.loop(ctx, e, false, show)
}

// residentSpec is the resident tick as a job. After another one it is that one's
// successor.
func residentSpec(root engine.Root, program engine.Program, env []string, p startPlan, after string) slurm.JobSpec {
	spec := slurm.JobSpec{
		Name: root.ResidentName(),
		Command: program.Command("resident", "--root", root.Path(),
			"--minutes", strconv.Itoa(p.resident), "--cadence", p.cadence.String()),
		Dir:       root.Path(),
		Env:       env,
		Output:    strings.ReplaceAll(filepath.Join(root.Path(), logsDir, "resident.log"), "%", "%%"),
		Minutes:   p.resident,
		CPUs:      1,
		Account:   p.compute.Account,
		Partition: p.compute.Partition,
		QOS:       p.compute.QOS,
		Singleton: true, // two starts can both submit; only one ever runs
	}
	if after != "" {
		spec.After = []string{after}
	}
	return spec
}

func (c *call) startSlurm(ctx context.Context, p startPlan, verbs string, dryRun bool) error {
	client := slurm.New(slurm.Options{Account: p.compute.Account, Partition: p.compute.Partition, QOS: p.compute.QOS, Log: c.log()})
	abs, err := filepath.Abs(p.root.Text)
	if err != nil {
		return err
	}
	if dryRun {
		self, err := c.Executable()
		if err != nil {
			return err
		}
		spec := residentSpec(engine.Root(abs), engine.ProgramIn(filepath.Dir(self)), engine.JobEnvironment(c.Getenv), p, "")
		argv, _ := client.Command(spec)
		fmt.Fprintf(c.Stdout, "%s\n# runs %s\n", channel.Quote(argv), channel.Quote(spec.Command))
		return nil
	}
	root, err := createRoot(p.root)
	if err != nil {
		return err
	}
	if paused(root) {
		return failed("outerloop-tick resume, or remove the file, and start again", "%s is there: the state root is paused", filepath.Join(p.root.Text, pauseFile))
	}
	if err := p.compute.save(root); err != nil {
		return err
	}
	program, err := c.program(root, verbs)
	if err != nil {
		return err
	}
	if err := c.rememberProgram(root, verbs); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root.Path(), logsDir), 0o700); err != nil {
		return err
	}
	return c.submitResident(ctx, client, root, residentSpec(root, program, engine.JobEnvironment(c.Getenv), p, ""))
}

// submitResident submits the resident tick unless there is one, and withdraws it
// where another start has done the same at the same time.
func (c *call) submitResident(ctx context.Context, client *slurm.Client, root engine.Root, spec slurm.JobSpec) error {
	byHand := "scancel --name " + spec.Name
	there, err := residents(ctx, client, spec.Name)
	if err != nil {
		return failed("try again, or look with squeue --name "+spec.Name,
			"whether a resident tick exists could not be learnt, and nothing was submitted: %w", err)
	}
	if len(there) > 0 {
		fmt.Fprintf(c.Stderr, "a resident tick is queued or running already (job %s); nothing was submitted. Stop it with %s, or pause it with outerloop-tick pause\n",
			there[0], byHand)
		return nil
	}
	spec.Token = rand.Text()
	id, err := client.Submit(ctx, spec)
	if err != nil {
		return failed("look with squeue --name "+spec.Name+" before you try again", "submitting the resident tick: %w", err)
	}
	// Both of two starts can have found nothing. Singleton keeps their jobs from
	// running at once, and the later one goes, so that one chain remains.
	there, err = residents(ctx, client, spec.Name)
	if err == nil && len(there) > 1 && there[0] != id && slices.Contains(there, id) {
		if err := client.Cancel(ctx, id); err != nil {
			return failed("scancel "+id, "another resident tick (job %s) was submitted at the same time, and this one (job %s) could not be cancelled: %w",
				there[0], id, err)
		}
		fmt.Fprintf(c.Stderr, "another resident tick (job %s) was submitted at the same time; withdrew this one (job %s)\n", there[0], id)
		return nil
	}
	fmt.Fprintf(c.Stdout, "resident tick submitted: job %s, %d minutes of walltime, hands over to itself. Logs: %s. Stop: %s\n",
		id, spec.Minutes, filepath.Join(root.Path(), logsDir), byHand)
	return nil
}

// residents are the ids of the resident ticks in the queue, the lowest first.
func residents(ctx context.Context, b slurm.Backend, name string) ([]string, error) {
	rows, err := b.Queue(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, row := range rows {
		if row.Name == name {
			ids = append(ids, row.ID)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return ids, nil
}

var errNotSlurm = errors.New("the state root's jobs do not run on Slurm")
