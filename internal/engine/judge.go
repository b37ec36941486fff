package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/seal"
	"github.com/outerloop-go/outerloop/ledger"
)

// A judge is the session of a run that judges what other runs have submitted. It gets
// a copy of the work and of what the kernel knows of it, and it may ask for one thing:
// that its findings become the run's verdict. It launches nothing and has no budget.

// Judged is one submit that a judge judges.
type Judged struct {
	Run    string `json:"run"`
	Commit string `json:"commit"` // the seal that was submitted
}

// The roles of a run's session, as it finds its own in OUTERLOOP_ROLE.
const (
	Author = "author"
	Judge  = "judge"
)

// Role says what the run's session is there for. A record from before there were
// judges is an author's.
func (s *Settings) Role() string {
	if len(s.Judges) > 0 {
		return Judge
	}
	return Author
}

// Subjects are the runs that a judge judges, for people.
func Subjects(judges []Judged) string {
	names := make([]string, len(judges))
	for i, j := range judges {
		names[i] = j.Run
	}
	return strings.Join(names, ", ")
}

// Names in the directory that a judge has of each run.
const (
	workDir    = "work"   // the workspace as it was submitted
	outputsDir = "output" // <sleep>/<job>/stdout and stderr: the end of what each job printed
)

// layOut makes the workspace of a judge: a copy of each submit that it judges. Nothing
// that is done to the runs later, by a prune for example, changes it.
func (n *NewRun) layOut(ctx context.Context, root Root, log *slog.Logger) (err error) {
	workspaces := filepath.Join(root.real(), "workspaces")
	n.Workspace = filepath.Join(workspaces, n.ID)
	// Of two that want the name one gets it; a run that is there keeps its workspace.
	err = os.Mkdir(n.Workspace, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return refuse("choose another --run, or leave it out and one is made up", "there is a workspace of a run %s already", n.ID)
	}
	if err != nil {
		return fmt.Errorf("making the workspace: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(n.Workspace))
		}
	}()
	for i := range n.Judges {
		j := &n.Judges[i]
		if j.Commit, err = copySubmit(ctx, root, j.Run, filepath.Join(n.Workspace, j.Run), log); err != nil {
			return err
		}
	}
	// The record follows, and a power cut must not leave it with half of its workspace.
	d, err := dirfd.Open(workspaces)
	if err != nil {
		return err
	}
	return errors.Join(d.SyncFilesystem(), d.Close())
}

// copySubmit puts what a run has submitted into a new directory, and returns the seal.
func copySubmit(ctx context.Context, root Root, id, dir string, log *slog.Logger) (commit string, err error) {
	if err := checkRunID(id); err != nil {
		return "", refuse("outerloop-tick status lists the runs", "--judge: %w", err)
	}
	// Under its lock, so that no prune takes the seal away meanwhile.
	r, err := openRun(ctx, root, id, retryWait, operator)
	if errors.Is(err, fs.ErrNotExist) {
		return "", refuse("outerloop-tick status lists the runs", "there is no run %s to judge", id)
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.judgeable(); err != nil {
		return "", err
	}
	if err := r.copyTo(ctx, dir, log); err != nil {
		return "", fmt.Errorf("copying what run %s has submitted: %w", id, err)
	}
	return r.Commit, nil
}

// judgeable refuses a run whose work cannot be judged, or not yet.
func (r *Run) judgeable() error {
	switch {
	case r.Role() == Judge:
		return refuse("judge "+Subjects(r.Judges)+" instead", "run %s is a judge's, and has no work to be judged", r.ID)
	case r.State != Ended:
		return refuse("wait until outerloop-tick status shows it as submitted or accepted", "run %s has not ended, and its work may change", r.ID)
	case r.Commit == "":
		return refuse("outerloop-tick status shows which runs were submitted or accepted", "run %s ended as %s, and has submitted nothing to judge", r.ID, r.Outcome)
	}
	if _, err := os.Lstat(r.sealPath()); errors.Is(err, fs.ErrNotExist) {
		return refuse("judge runs before outerloop-tick prune", "what run %s has submitted was pruned", r.ID)
	}
	return nil
}

func (r *Run) copyTo(ctx context.Context, dir string, log *slog.Logger) error {
	work := filepath.Join(dir, workDir)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	store, err := seal.Open(ctx, r.sealPath(), seal.DefaultLimits(), log)
	if err != nil {
		return err
	}
	into, err := dirfd.Open(work)
	if err != nil {
		return err
	}
	defer into.Close()
	if err := store.Materialize(ctx, r.Commit, into); err != nil {
		return err
	}
	for _, name := range []string{"task.md", "report.md", filepath.Base(r.ledgerPath())} {
		err := copyPlain(r.path(name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a run without a launch has no ledger
			return err
		}
	}
	return r.copyOutputs(filepath.Join(dir, outputsDir))
}

// copyPlain copies a file that only the kernel writes, into a directory that nobody
// else has yet.
func copyPlain(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// copyOutputs copies the end of what each job of the run printed, as much of it as its
// author was shown.
func (r *Run) copyOutputs(dir string) error {
	log, err := ledger.History(r.ledgerPath())
	if err != nil {
		return err
	}
	for i := range log.Launches {
		l := launchStory(r.dir, &log.Launches[i])
		for _, job := range l.Jobs {
			to := filepath.Join(dir, strconv.Itoa(l.Sleep), strings.TrimPrefix(filepath.Base(job.Dir), launchPrefix))
			for _, stream := range []string{"stdout", "stderr"} {
				text, _ := tail(job.Dir, stream)
				if text == "" {
					continue
				}
				if err := os.MkdirAll(to, 0o700); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(to, stream), []byte(text), 0o600); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unwanted refuses what a judge cannot have. Zero values stand for what was not asked for.
func (n *NewRun) unwanted() error {
	twice := ""
	for i, j := range n.Judges {
		if slices.ContainsFunc(n.Judges[:i], func(o Judged) bool { return o.Run == j.Run }) {
			twice = j.Run
		}
	}
	switch {
	case twice != "":
		return refuse("name each run once", "--judge %s is given twice", twice)
	case n.Workspace != "":
		return refuse("leave --workspace out", "a judge has a workspace of its own, with copies of what it judges")
	case n.Gate != "" || n.GateMinutes != 0:
		return refuse("leave --gate and --gate-minutes out", "a judge submits nothing that a gate could measure")
	case n.Budget != Budget{}:
		return refuse("leave --launches, --sleeps and --gpu-hours out", "a judge launches nothing, and has no budget")
	case n.CPUs > 1 || n.GPUs != 0 || n.MaxGPUs != 0 || n.MemoryMB != 0:
		return refuse("leave --cpus, --memory, --gpus and --max-gpus out", "a judge launches nothing that could have them")
	}
	return nil
}
