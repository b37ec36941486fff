package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/runner"
)

// launchPrefix begins the name of a launch's directory.
const launchPrefix = "eval-launch-"

// jobDir is the directory of a launch's job. Those of a sweep's tasks have the
// same name with ".<i>" behind it.
func (r *Run) jobDir(launch string) string { return r.path(launchPrefix + launch) }

// gateDir is the directory of the gate's job. Each attempt has one of its own: in
// the directory of another job it would take itself for a twin.
func (r *Run) gateDir() string {
	return r.path(fmt.Sprintf("eval-gate-%d.%d", r.Sleep.Number, r.Sleep.Gate.Attempt))
}

// sleepFile holds the number of the sleep that a job directory belongs to.
const sleepFile = "sleep"

// prepareLaunch makes the directory that a launch's job starts from. A name is
// unique within one sleep only: what an earlier launch of the same name has left
// is put away first, or the new job would find an exit code there and not run.
func (e *Engine) prepareLaunch(r *Run, l *Launch) error {
	dir := r.jobDir(l.Name)
	owner, err := os.ReadFile(filepath.Join(dir, sleepFile))
	switch {
	case err == nil && string(owner) == strconv.Itoa(r.Sleep.Number):
		return nil // by a process that died after it
	case err == nil:
		if err := r.putAway(l.Name, string(owner)); err != nil {
			return fmt.Errorf("putting the former %s away: %w", l.Name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	job := e.jobOf(r, l.Name, l.Command)
	job.Artifacts = l.Artifacts
	if err := runner.WriteJob(dir, job); err != nil {
		return err
	}
	// Last, since it says that all of the above is there.
	return durable.WriteFile(filepath.Join(dir, sleepFile), []byte(strconv.Itoa(r.Sleep.Number)))
}

// putAway moves the directories of an earlier launch to past/<sleep>/. The one
// without a task's number goes last, because it is the one that says whose they
// are. Parts that a process before this one has moved are simply not there.
func (r *Run) putAway(name, sleep string) error {
	past := r.path("past", filepath.Base(sleep))
	if err := os.MkdirAll(past, 0o700); err != nil {
		return err
	}
	base := filepath.Base(r.jobDir(name))
	var moves []string
	for i := range channel.MaxArray {
		moves = append(moves, base+"."+strconv.Itoa(i))
	}
	for _, dir := range append(moves, base) {
		if err := os.Rename(r.path(dir), filepath.Join(past, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(durable.SyncDir(past), durable.SyncDir(r.path()))
}

// prepareGate makes the directory of the gate's job.
func (e *Engine) prepareGate(r *Run) error {
	if err := durable.MkdirAll(r.gateDir()); err != nil {
		return err
	}
	return runner.WriteJob(r.gateDir(), e.jobOf(r, "gate", r.Gate))
}

// jobOf is a job on the seal of the run's sleep, confined as the run is.
func (e *Engine) jobOf(r *Run, name, command string) runner.Job {
	return runner.Job{
		Run: r.ID, Name: name, Command: command,
		GitDir: r.sealPath(), Commit: r.Sleep.Commit,
		Sandbox: r.Sandbox, Read: r.Read, GPUs: r.GPUs, CPUs: r.CPUs,
	}
}

// skipped says why a job's runner did not bring an artifact out of the place
// where the job worked, "" where it has no word on it.
func skipped(jobDir, artifact string) string {
	all, err := runner.ReadArtifacts(jobDir)
	if err != nil {
		return ""
	}
	for _, a := range all {
		if a.Path == artifact {
			return a.Skipped
		}
	}
	return ""
}
