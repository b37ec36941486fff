package seal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// git runs the git program on the kernel's repository.
type git struct {
	program string
	dir     string // the repository
	// held is inherited by every process, nil for none: a flock(2) belongs to
	// the open file, so a git that outlives a killed kernel keeps the lock until
	// it has ended too, and the next kernel waits for it.
	held *os.File
}

// settings override what an operator's file or another version of git could
// say. Nobody's configuration is read beside them but the repository's own.
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
	"pack.compression=1",       // half the time of the default, a sixth more disk, for Go sources
	"fastimport.unpackLimit=0", // one pack per seal: one fsync, not one per object
	"gc.auto=0",
	"maintenance.auto=false",
}

// environment is everything a git process knows. The kernel's own environment
// may hold tokens, GIT_DIR, or GIT_CONFIG_PARAMETERS of whoever started it.
func (g git) environment() []string {
	return []string{
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
	}
}

// command prepares a git process. What it says on standard error is kept in the
// returned tail, to be wrapped into an error by fail.
func (g git) command(ctx context.Context, args ...string) (*exec.Cmd, *tail) {
	full := []string{"--git-dir=" + g.dir}
	for _, setting := range settings {
		full = append(full, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, g.program, append(full, args...)...)
	cmd.Env = g.environment()
	cmd.Dir = "/"
	cmd.WaitDelay = 10 * time.Second
	if g.held != nil {
		cmd.ExtraFiles = []*os.File{g.held}
	}
	stderr := new(tail)
	cmd.Stderr = stderr
	return cmd, stderr
}

// output runs git to its end and returns what it printed.
func (g git) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd, stderr := g.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, stderr.fail(ctx, args[0], err)
	}
	return out.Bytes(), nil
}

// tail keeps the last part of what is written to it: a git that complains about
// each of a hundred thousand names must not fill the kernel's memory.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	const max = 2048
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - max; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

// fail makes an error of how git ended. A context that is over is the reason
// itself: the kill it caused would only read "signal: killed".
func (t *tail) fail(ctx context.Context, verb string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("git %s: %w", verb, cause)
	}
	if said := strings.TrimSpace(string(t.kept)); said != "" {
		return fmt.Errorf("git %s: %w: %s", verb, err, said)
	}
	return fmt.Errorf("git %s: %w", verb, err)
}
