package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/durable"
)

// claim says whose a job's directory is.
type claim int

const (
	fresh    claim = iota // ours, and nothing has happened in it
	requeued              // ours from an earlier start that came to nothing
	twin                  // another job's
	finished              // ours, and the command has come to its end
)

// take claims the directory for the id. Of several that try at one time exactly
// one gets it, also over NFS: link(2) puts the claim in place with its content,
// so that a claim whose owner nobody can tell is never seen.
func take(dir, id string) (claim, error) {
	path := filepath.Join(dir, "claim")
	err := linkNew(dir, path, id+"\n")
	if err == nil {
		return fresh, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("claim the job's directory: %w", err)
	}
	owner, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read whose the job's directory is: %w", err)
	}
	if strings.TrimSpace(string(owner)) != id {
		return twin, nil
	}
	if _, err := os.Lstat(filepath.Join(dir, exitCodeFile)); err == nil {
		return finished, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("see whether the job has ended: %w", err)
	}
	return requeued, nil
}

func linkNew(dir, path, content string) (err error) {
	f, err := os.CreateTemp(dir, ".claim-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// startOver removes what an earlier start of the job has left, so that nothing of
// two runs is ever mixed.
func startOver(dir string) error {
	for _, name := range []string{"stdout", "stderr", "artifacts", "artifacts.log"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("clear the job's directory: %w", err)
		}
	}
	if err := tidy(dir); err != nil {
		return fmt.Errorf("clear the job's directory: %w", err)
	}
	return nil
}

// Tidy removes what a runner that was killed, or who prepared its job, has left half
// written in the job's directory. The job must be over. The artifacts are those that were
// declared: one may be named like a temporary file.
func Tidy(dir string, artifacts []string) error {
	if err := tidy(dir); err != nil {
		return err
	}
	out := filepath.Join(dir, "artifacts")
	return filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || !dirfd.Temporary(entry.Name()) {
			return err
		}
		if rel, err := filepath.Rel(out, path); err != nil || slices.Contains(artifacts, rel) {
			return err
		}
		return os.Remove(path)
	})
}

// tidy is Tidy for all but artifacts. Nothing that stays in the directory has a name that
// begins with a dot.
func tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if entry.Name()[0] != '.' {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// exitCodeFile is the last that a runner writes.
const exitCodeFile = "exit-code"

func readExitCode(dir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dir, exitCodeFile))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}
