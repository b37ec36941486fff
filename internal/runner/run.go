package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/internal/seal"
)

// Grace is the time a command has between SIGTERM and SIGKILL. It is less than
// the 30 seconds after which the scheduler kills the runner itself (Slurm's
// KillWait, and what the local backend is given), so that its artifacts can still
// be brought out.
const Grace = 5 * time.Second

// terminated is the status of a runner whose command was ended from outside.
const terminated = 128 + int(syscall.SIGTERM)

// Runner runs jobs on this machine.
type Runner struct {
	Scratch string   // directory below which jobs work; made where it is missing
	Shim    []string // see [sandbox.Spec]
	Log     *slog.Logger
}

// Run runs the job that is described in the launch's directory, and returns the
// status to exit with: the command's own, or 0 for a twin of a job that runs or
// ran elsewhere. With an error the command has no result: no exit-code is
// written, and the job's stderr says why, since it is what the author reads.
func (r *Runner) Run(ctx context.Context, launchDir string, a Allocation) (exit int, err error) {
	launchDir, err = filepath.Abs(launchDir)
	if err != nil {
		return 1, err
	}
	dir := launchDir
	if a.Task >= 0 {
		dir += "." + strconv.Itoa(a.Task)
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return 1, err
		}
	}
	log := r.Log.With("job", a.ID, "dir", dir)
	claimed, err := take(dir, a.ID)
	if err != nil {
		return 1, err
	}
	switch claimed {
	case twin:
		log.Warn("another job has this directory; this one is a twin and does nothing")
		return 0, nil
	case finished:
		log.Warn("the job has ended before and is not run again")
		return readExitCode(dir)
	case requeued:
		log.Warn("the job was started before and did not end; it begins again")
		if err := startOver(dir); err != nil {
			return 1, err
		}
	}
	res, err := r.run(ctx, launchDir, dir, a)
	struck := err == nil && res.Code == terminated && struckToo(ctx)
	if res.Cause != sandbox.Exited || struck || err != nil && ctx.Err() != nil {
		log.Warn("the job was ended from outside", "cause", context.Cause(ctx), "err", err)
		return terminated, nil
	}
	if err != nil {
		explain(dir, err)
		return 1, err
	}
	if err := patiently(ctx, log, func() error { return writeExitCode(dir, res.Code) }); err != nil {
		return 1, err
	}
	return res.Code, nil
}

// struckToo says whether this process is ended from outside like its command, which has
// died of SIGTERM. Slurm signals all processes of a job one after the other, so the command
// may be gone before this one has heard of it; its status would then be told as the
// command's own doing. Who has ended the job is for the scheduler to say.
func struckToo(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(Grace):
		return false
	}
}

// run does everything but the exit-code. When it returns the scratch is gone.
func (r *Runner) run(ctx context.Context, launchDir, dir string, a Allocation) (res sandbox.Result, err error) {
	job, err := readJob(launchDir)
	if err != nil {
		return res, err
	}
	jobDir, err := dirfd.Open(dir)
	if err != nil {
		return res, err
	}
	defer jobDir.Close()
	if err := jobDir.Publish("command.txt", []byte(job.Command+"\n"), dirfd.Volatile); err != nil {
		return res, err
	}
	root, err := filepath.Abs(r.Scratch)
	if err != nil {
		return res, err
	}
	place, err := newScratch(root, r.Log)
	if err != nil {
		return res, fmt.Errorf("make a place for the job to work: %w", err)
	}
	defer func() {
		// The job's result does not depend on it, and the next sweep tries again.
		if err := place.remove(); err != nil {
			r.Log.Warn("scratch could not be removed", "err", err)
		}
	}()
	tree, err := dirfd.Open(place.tree())
	if err != nil {
		return res, err
	}
	defer tree.Close()
	if err := r.materialize(ctx, job, tree); err != nil {
		return res, err
	}
	res, err = r.command(ctx, job, dir, place, a)
	if err != nil {
		return res, err
	}
	if err := patiently(ctx, r.Log, func() error { return bringOut(tree, jobDir, job.Artifacts) }); err != nil {
		return res, fmt.Errorf("bring artifacts out: %w", err)
	}
	return res, nil
}

// patiently repeats what failed, since a disk may be full for a moment only and
// the command's hours of work are done: once a second for a minute, or until the
// scheduler wants the job to end.
func patiently(ctx context.Context, log *slog.Logger, do func() error) error {
	const tries = 60
	for n := 1; ; n++ {
		err := do()
		if err == nil || n == tries || ctx.Err() != nil {
			return err
		}
		log.Warn("writing the job's result failed; trying again", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (r *Runner) materialize(ctx context.Context, job Job, into *dirfd.Dir) error {
	store, err := seal.Open(ctx, job.GitDir, seal.Limits{}, r.Log)
	if err != nil {
		return err
	}
	return store.Materialize(ctx, job.Commit, into)
}

// command runs the command in its sandbox, with its output in the job's
// directory and on disk when it returns.
func (r *Runner) command(ctx context.Context, job Job, dir string, place *scratch, a Allocation) (res sandbox.Result, err error) {
	spec := sandbox.Spec{
		Workspace: place.tree(),
		Home:      place.home(),
		Temp:      place.temp(),
		Read:      job.Read,
		Network:   job.Network,
		GPUs:      job.GPUs > 0,
		Env:       environment(job, place, a),
		Shim:      r.Shim,
	}
	cmd, err := job.Sandbox.Command(spec, []string{"/bin/sh", "-c", job.Command})
	if err != nil {
		return res, err
	}
	stdout, err := openOutput(dir, "stdout")
	if err != nil {
		return res, err
	}
	defer stdout.Close()
	stderr, err := openOutput(dir, "stderr")
	if err != nil {
		return res, err
	}
	defer stderr.Close()
	res, err = cmd.Run(ctx, sandbox.Stdio{Out: stdout, Err: stderr}, sandbox.Limits{Grace: Grace})
	if errors.Is(err, sandbox.ErrOutput) {
		// The command has run, so its result stands.
		r.Log.Error("the job's output is not complete", "dir", dir, "err", err)
		err = nil
	}
	if err != nil {
		return res, err
	}
	return res, errors.Join(stdout.Sync(), stderr.Sync())
}

func openOutput(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// environment is the command's whole environment. What says which job it is
// cannot be replaced by the operator's additions; all else can.
func environment(job Job, place *scratch, a Allocation) []string {
	var more []string
	if job.CPUs > 0 {
		// Without it every task of a sweep would start a thread for each of
		// the machine's processors.
		more = append(more, "OMP_NUM_THREADS="+strconv.Itoa(job.CPUs))
	}
	if job.Sandbox == sandbox.None {
		more = append(more, "TMPDIR="+place.temp())
	}
	more = append(more, job.Env...)
	more = append(more, "OUTERLOOP_RUN="+job.Run, "OUTERLOOP_JOB="+job.Name)
	if a.Task >= 0 {
		more = append(more, "SWEEP_INDEX="+strconv.Itoa(a.Task))
	}
	if a.Devices != nil {
		more = append(more, "CUDA_VISIBLE_DEVICES="+*a.Devices)
	}
	return sandbox.Environment("", place.home(), more...)
}

// explain tells the author, to whom the job's stderr is shown, that the command
// is not to blame. Whatever goes wrong here, err itself is on its way up.
func explain(dir string, err error) {
	f, openErr := openOutput(dir, "stderr")
	if openErr != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "outerloop: the job could not be run: %v\n", err)
}

// writeExitCode is the moment at which a job is over. Whoever reads the file
// finds everything else in place and on disk.
func writeExitCode(dir string, code int) error {
	d, err := dirfd.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Publish(exitCodeFile, []byte(strconv.Itoa(code)+"\n"), dirfd.Durable); err != nil {
		return fmt.Errorf("write the exit-code: %w", err)
	}
	return nil
}
