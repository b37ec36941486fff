package channel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// WriteBudget tells the session what is left. It is refreshed at every leg.
func (k *Kernel) WriteBudget(b Budget) error { return k.writeJSON(BudgetFile, b) }

// WriteSiblings tells the session of the other agents' runs.
func (k *Kernel) WriteSiblings(list []Sibling) error { return k.writeJSON(SiblingsFile, orEmpty(list)) }

// WritePrompt leaves this leg's prompt, and the one that the run began with, as
// files, for agent programs that do not read standard input.
func (k *Kernel) WritePrompt(prompt, task []byte) error {
	dir := k.current()
	if err := dir.Publish(PromptFile, prompt, dirfd.Volatile); err != nil {
		return fmt.Errorf("writing the prompt: %w", err)
	}
	if err := dir.Publish(TaskFile, task, dirfd.Volatile); err != nil {
		return fmt.Errorf("writing the task: %w", err)
	}
	return nil
}

// WriteReport leaves a report of a past attempt, reports/<name>.md.
func (k *Kernel) WriteReport(name string, text []byte) error {
	if name == "" || name[0] == '.' {
		return fmt.Errorf("channel: %q cannot name a report", name)
	}
	dir, err := k.current().Mkdir(ReportsDir)
	if err == nil {
		defer dir.Close()
		err = dir.Publish(name+".md", text, dirfd.Volatile)
	}
	if err != nil {
		return fmt.Errorf("writing the report %s: %w", name, err)
	}
	return nil
}

func (k *Kernel) writeJSON(file string, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	if err := k.current().Publish(file, raw, dirfd.Volatile); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// Result names one artifact of one job.
type Result struct {
	Launch   string
	Task     int    // of a sweep; -1 for a launch that is none
	Artifact string // as [CheckArtifact] lets through
}

// place is where in the channel a result belongs.
func (r Result) place() (dir, file string, err error) {
	if err := errors.Join(CheckName(r.Launch), CheckArtifact(r.Artifact)); err != nil {
		return "", "", err
	}
	where := path.Join(ResultsDir, r.Launch)
	if r.Task >= 0 {
		where = path.Join(where, strconv.Itoa(r.Task))
	}
	dir, file = path.Split(path.Join(where, r.Artifact))
	return strings.TrimSuffix(dir, "/"), file, nil
}

// Path is where the session finds the result, below its channel.
func (r Result) Path() string {
	dir, file, err := r.place()
	if err != nil {
		return ""
	}
	return path.Join(dir, file)
}

// Deliver brings an artifact into the channel's results. What the session has
// put in the way is replaced or moved aside. Content above [MaxArtifactBytes]
// makes it fail.
func (k *Kernel) Deliver(r Result, content io.Reader) error {
	at, file, err := r.place()
	if err != nil {
		return err
	}
	dir, err := k.current().SubPath(at, true)
	if err == nil {
		defer dir.Close()
		_, err = dir.PublishFrom(file, content, MaxArtifactBytes, 0o666, dirfd.Volatile)
	}
	if err != nil {
		return fmt.Errorf("delivering %s of %s: %w", r.Artifact, r.Launch, err)
	}
	return nil
}

// Withdraw removes an artifact that an earlier launch of the same name has
// left, so that what stands there after a wake is from this launch or is not
// there. Nothing to remove is no error.
func (k *Kernel) Withdraw(r Result) error {
	at, file, err := r.place()
	if err != nil {
		return err
	}
	dir, err := k.current().SubPath(at, false)
	if err == nil {
		defer dir.Close()
		err = dir.Discard(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, dirfd.ErrNotRegular) {
		return fmt.Errorf("removing the former %s of %s: %w", r.Artifact, r.Launch, err)
	}
	return nil
}
