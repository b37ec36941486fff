package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/origin"
)

// MaxPromptBytes bounds the first prompt of a run.
const MaxPromptBytes = 1 << 20

// NewRun is what the operator says of a run that is to be made.
type NewRun struct {
	ID     string // "" picks one
	Prompt []byte // the task, as the author or judge gets it
	Budget Budget
	Settings
}

// New makes a run whose first leg waits to be started by the next tick. It
// returns the run's id. What is wrong with the settings is a *[SettingsError],
// before anything is made. With Judges, whose seals it fills in, the run is a judge's,
// and gets a workspace with copies of what it judges.
func New(ctx context.Context, root Root, n NewRun, now time.Time, log *slog.Logger) (id string, err error) {
	if n.ID == "" {
		n.ID = "run-"
		if n.Role() == Judge {
			n.ID = "judge-"
		}
		n.ID += strings.ToLower(rand.Text()[:6])
	}
	if n.Agent == "" {
		n.Agent = n.ID
	}
	unlock, locked, err := root.making("runs", makeWait)
	if err != nil {
		return "", fmt.Errorf("making the run: %w", err)
	}
	defer unlock()
	if err := n.check(root); err != nil {
		return "", err
	}
	if _, err := os.Lstat(root.RunDir(n.ID)); err == nil {
		return "", runExists(n.ID)
	}
	if _, unmade, err := root.list(); err != nil {
		return "", err
	} else if locked {
		if err := root.removeUnmade(unmade); err != nil {
			return "", fmt.Errorf("sweeping what was not made: %w", err)
		}
	}
	// A run is there with all that belongs to it, or not at all: it is made under
	// a name that no run can have, and renamed.
	temp, err := os.MkdirTemp(root.join("runs"), unmadePrefix+n.ID+".")
	if err != nil {
		return "", fmt.Errorf("making the run: %w", err)
	}
	defer os.RemoveAll(temp)
	if n.Role() == Judge {
		if err := n.layOut(ctx, root, log); err != nil {
			return "", err
		}
	} else if n.Workspace == "" {
		n.Workspace = filepath.Join(root.real(), "workspaces", n.ID)
		if err := os.MkdirAll(n.Workspace, 0o700); err != nil {
			return "", fmt.Errorf("making the workspace: %w", err)
		}
	}
	if err := n.fill(temp, now); err != nil {
		return "", fmt.Errorf("making the run: %w", err)
	}
	// Onto a directory that is not empty nothing can be renamed.
	if err := os.Rename(temp, root.RunDir(n.ID)); errors.Is(err, fs.ErrExist) {
		return "", runExists(n.ID)
	} else if err != nil {
		return "", fmt.Errorf("making the run: %w", err)
	}
	return n.ID, durable.SyncDir(root.join("runs"))
}

func runExists(id string) error {
	return refuse("choose another --run, or leave it out and one is made up", "there is a run %s already", id)
}

// SettingsError is a run that cannot be made as it was asked for.
type SettingsError struct {
	Cure string // what to ask for instead, "" where the error says it
	err  error
}

func (e *SettingsError) Error() string { return e.err.Error() }
func (e *SettingsError) Unwrap() error { return e.err }

func refuse(cure, cause string, args ...any) error {
	return &SettingsError{cure, fmt.Errorf(cause, args...)}
}

// fill puts everything that a new run has into its directory.
func (n *NewRun) fill(dir string, now time.Time) error {
	r := &Run{dir: dir, by: operator, kept: made, Record: Record{
		Version:  recordVersion,
		ID:       n.ID,
		Created:  now.UTC(),
		Settings: n.Settings,
		State:    Ready,
		Session:  newUUID(),
		Budget:   n.Budget,
	}}
	for _, sub := range []string{r.path(homeDir), r.legPath(0, "")} {
		if err := durable.MkdirAll(sub); err != nil {
			return err
		}
	}
	if err := durable.WriteFile(r.path("task.md"), n.Prompt); err != nil {
		return err
	}
	if err := durable.WriteFile(r.legPath(0, "prompt.md"), firstPrompt(&r.Record, n.Prompt)); err != nil {
		return err
	}
	return r.save()
}

func (n *NewRun) check(root Root) error {
	if err := checkRunID(n.ID); err != nil {
		return refuse("", "%w", err)
	}
	if n.Role() == Judge {
		if err := n.unwanted(); err != nil {
			return err
		}
	}
	switch {
	case n.Agent == "" || utf8.RuneCountInString(n.Agent) > 64 || strings.ContainsFunc(n.Agent, unprintable):
		return refuse("", "the agent's name %q must be 1 to 64 printable characters", n.Agent)
	case len(n.Command) == 0:
		return refuse("give the "+n.Role()+"'s command after --, as in: -- claude -p, or set OUTERLOOP_AUTHOR", "there is no %s", n.Role())
	case len(n.Prompt) == 0 || len(n.Prompt) > MaxPromptBytes || !utf8.Valid(n.Prompt):
		return refuse("", "the prompt must be UTF-8 text of 1 to %d bytes", MaxPromptBytes)
	case n.Origin != "" && origin.CheckURL(n.Origin) != nil:
		return refuse("give --origin as git fetch takes it", "--origin: %w", origin.CheckURL(n.Origin))
	case n.LegTime.Duration < time.Second:
		return refuse("give --leg-time at least 1s", "a leg of %s is no leg", n.LegTime)
	case n.Gate != "" && n.GateMinutes < 1:
		return refuse("give --gate-minutes at least 1", "a gate of %d minutes is no gate", n.GateMinutes)
	case n.Budget.Launches < 0 || n.Budget.Sleeps < 0:
		return refuse("give --launches and --sleeps at least 0", "a budget cannot be below 0")
	case n.Budget.GPUHours != nil && !(*n.Budget.GPUHours >= 0):
		return refuse("give --gpu-hours at least 0, or leave it out for no bound", "a budget of %v GPU hours is none", *n.Budget.GPUHours)
	case n.CPUs < 1 || n.MemoryMB < 0 || n.GPUs < 0 || n.MaxGPUs < 0:
		return refuse("", "a task needs at least 1 CPU, and no negative amount of anything")
	}
	for _, text := range append(slices.Concat(n.Command, n.Read), n.Gate, n.Workspace, string(root)) {
		// Records are JSON, which would change other bytes without a word.
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return refuse("", "%q is not valid UTF-8 text, and could not be kept as it is", text)
		}
	}
	return n.checkPaths(root)
}

// checkPaths makes the paths absolute and refuses those that would show the
// session what it must not see, or let it change what another one works in.
func (n *NewRun) checkPaths(root Root) error {
	if n.Origin != "" && !strings.Contains(n.Origin, ":") {
		abs, err := existing(n.Origin)
		if err != nil {
			return refuse("name a repository by its URL, or by a path that is there", "--origin: %w", err)
		}
		n.Origin = abs
	}
	state := root.real()
	for i, path := range n.Read {
		abs, err := existing(path)
		if err != nil {
			return refuse("name what is there, by its full path", "--read: %w", err)
		}
		if under(abs, state) || under(state, abs) {
			return refuse("name a directory apart from it", "--read %s would show the author the state root %s", abs, state)
		}
		n.Read[i] = abs
	}
	if n.Workspace == "" {
		return nil
	}
	abs, err := workspaceAt(n.Workspace)
	if err != nil {
		return err
	}
	workspaces := filepath.Join(state, "workspaces")
	if under(state, abs) || under(abs, state) && !under(abs, workspaces) || abs == workspaces {
		return refuse("use a directory apart from it", "--workspace %s: the author must not see the state root %s", abs, state)
	}
	n.Workspace = abs
	return n.checkApart(root)
}

// workspaceAt is the real path of a workspace, which must be a directory by now:
// a leg would find out otherwise, when nobody looks.
func workspaceAt(path string) (string, error) {
	abs, err := existing(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", refuse("make it first, or leave --workspace out for a new one", "--workspace %s is not there", path)
	}
	if err != nil {
		return "", refuse("", "--workspace: %w", err)
	}
	if info, err := os.Stat(abs); err != nil {
		return "", refuse("", "--workspace: %w", err)
	} else if !info.IsDir() {
		return "", refuse("name a directory, or leave --workspace out for a new one", "--workspace %s is no directory", path)
	}
	return abs, nil
}

// checkApart refuses a workspace that overlaps that of a run which has not ended.
// Its author could swap what lies above the other's for a link to anywhere.
func (n *NewRun) checkApart(root Root) error {
	ids, err := root.Runs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		other, err := loadRecord(root.RunDir(id), id)
		if err != nil || other.State == Ended {
			continue // a broken record is left alone, and its run does not move
		}
		if under(n.Workspace, other.Workspace) || under(other.Workspace, n.Workspace) {
			return refuse("end that run, or use another directory", "--workspace %s overlaps with %s, where run %s works",
				n.Workspace, other.Workspace, id)
		}
	}
	return nil
}

// existing is the real path of a directory or file that must be there.
func existing(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// under says whether path is dir or lies below it.
func under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }

// newUUID makes a random UUID (RFC 9562, version 4), the form in which agent
// programs want the name of a conversation.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
