// Package git runs the git program on repositories that the kernel owns.
//
// Nothing of an author's is ever given to it as a repository: a workspace's own
// .git may name hooks, filters, programs and other repositories. What git is told
// comes from this package and its callers, in an environment that is built from a
// list.
package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Repo is a bare repository of the kernel's. Program and Dir must be set.
type Repo struct {
	Program string // git's path
	Dir     string // the repository's

	// Held is inherited by every process, nil for none: a flock(2) belongs to
	// the open file, so a git that outlives a killed kernel keeps the lock until
	// it has ended too, and the next kernel waits for it.
	Held *os.File

	Settings []string // name=value, over those that hold for every repository
	Env      []string // NAME=value, over [Environment]
}

// Find looks for the git program.
func Find() (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("the program git is needed and not on PATH: %w", err)
	}
	return filepath.Abs(program)
}

// settings override what an operator's file or another version of git could
// say.
var settings = [...]string{
	"core.hooksPath=/dev/null",
	"core.excludesFile=/dev/null", // by default a file of the user's applies to every tree
	"core.attributesFile=/dev/null",
	"core.fsmonitor=false",
	"core.ignoreCase=false",
	"core.protectHFS=false", // newer gits refuse names that are harmless where jobs run
	"core.protectNTFS=false",
	"core.fsync=all", // packs, indexes and references are on disk before git says so
	"core.fsyncMethod=fsync",
	"core.logAllRefUpdates=false",
	"core.bigFileThreshold=8m", // larger blobs pass through in pieces, not through memory
}

// Environment is everything that a git process knows. The kernel's own environment
// may hold tokens, GIT_DIR, or GIT_CONFIG_PARAMETERS of whoever started it. Nobody's
// configuration is read but the repository's own.
func (r Repo) Environment() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=/nonexistent",
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_FLUSH=1",
	}, r.Env...)
}

// Command prepares a git process. What it says on standard error is kept in the
// returned tail, to be wrapped into an error by its Fail.
func (r Repo) Command(ctx context.Context, args ...string) (*exec.Cmd, *Tail) {
	full := []string{"--git-dir=" + r.Dir}
	for _, setting := range settings {
		full = append(full, "-c", setting)
	}
	for _, setting := range r.Settings {
		full = append(full, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, r.Program, append(full, args...)...)
	cmd.Env = r.Environment()
	cmd.Dir = "/"
	cmd.WaitDelay = 10 * time.Second
	if r.Held != nil {
		cmd.ExtraFiles = []*os.File{r.Held}
	}
	stderr := new(Tail)
	cmd.Stderr = stderr
	return cmd, stderr
}

// Output runs git to its end and returns what it printed.
func (r Repo) Output(ctx context.Context, args ...string) ([]byte, error) {
	cmd, stderr := r.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, stderr.Fail(ctx, args[0], err)
	}
	return out.Bytes(), nil
}

// Tail keeps the last part of what is written to it: a git that complains about
// each of a hundred thousand names must not fill the kernel's memory.
type Tail struct{ kept []byte }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	const max = 2048
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - max; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

// Fail makes an error of how git ended. A context that is over is the reason
// itself: the kill it caused would only read "signal: killed".
func (t *Tail) Fail(ctx context.Context, verb string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("git %s: %w", verb, cause)
	}
	if said := strings.TrimSpace(string(t.kept)); said != "" {
		return fmt.Errorf("git %s: %w: %s", verb, err, said)
	}
	return fmt.Errorf("git %s: %w", verb, err)
}
