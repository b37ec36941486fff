package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
