package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Bounds of what a program may print. A queue of a hundred thousand tasks takes
// about 20 MB; what goes to standard error is kept for messages only.
const (
	maxOutput = 64 << 20
	maxErrors = 64 << 10
)

// passedOn names what a program of Slurm's gets of the caller's environment. None
// of it changes what is printed or becomes an option of a job, as SLURM_*, SBATCH_*,
// SQUEUE_*, SACCT_* and SINFO_* do: a kernel may itself run as a job, and a job that
// inherits SLURM_CPU_BIND from it runs pinned to the wrong cores.
func passedOn() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "TZ", "SLURM_CONF", "SLURM_CONF_SERVER"}
}

// callError is a program that could not be run, was ended, or failed.
type callError struct {
	program string
	words   string // what it printed on standard error
	err     error
}

func (e *callError) Error() string {
	if e.words == "" {
		return fmt.Sprintf("%s: %v", e.program, e.err)
	}
	return fmt.Sprintf("%s: %v: %s", e.program, e.err, e.words)
}

func (e *callError) Unwrap() error { return e.err }

// exited says whether the program ended by itself, so that its words are its last.
func (e *callError) exited() bool {
	exit, ok := errors.AsType[*exec.ExitError](e.err)
	return ok && exit.Exited()
}

// caller runs Slurm's programs; it is the one place in the package that does.
type caller struct {
	path string // where programs are looked for
	env  []string
}

func newCaller(opt *Options) *caller {
	c := &caller{path: opt.Path, env: []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8"}}
	if c.path == "" {
		c.path = os.Getenv("PATH")
	}
	for _, key := range passedOn() {
		value := os.Getenv(key)
		switch {
		case key == "PATH":
			value = c.path
		case key == "SLURM_CONF" && opt.Config != "":
			value = opt.Config
		}
		if value != "" {
			c.env = append(c.env, key+"="+value)
		}
	}
	return c
}

// look finds a program, and not by a relative entry of the path: the working
// directory may be one that a session writes to.
func (c *caller) look(name string) (string, error) {
	for _, dir := range filepath.SplitList(c.path) {
		file := filepath.Join(dir, name)
		if !filepath.IsAbs(dir) {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &callError{program: name, err: fmt.Errorf("%w in %s", exec.ErrNotFound, c.path)}
}

// call runs a program to its end and returns what it printed, also when it failed.
// It has limit, and no longer than ctx; then it is killed with all that it
// has started. Every error is a [*callError].
func (c *caller) call(ctx context.Context, limit time.Duration, stdin, name string, args ...string) (string, error) {
	file, err := c.look(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = c.env
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(stdin)
	out, words := bounded{max: maxOutput}, bounded{max: maxErrors, forgetful: true}
	cmd.Stdout, cmd.Stderr = &out, &words
	cmd.SysProcAttr = groupAttr()
	// Sites wrap these programs in scripts, so that the one that hangs may be a
	// child. What left the group all the same cannot hold up the caller.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	// The program dies with this thread; see groupAttr.
	runtime.LockOSThread()
	err = cmd.Run()
	runtime.UnlockOSThread()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within its time: %w", ctx.Err())
	}
	return out.String(), &callError{program: name, words: oneLine(words.String()), err: err}
}

// oneLine folds a message into one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bounded takes up to max bytes. More is an error, which ends the program, or is
// forgotten. It is no [bytes.Buffer], for that would read to the end by itself.
type bounded struct {
	buf       bytes.Buffer
	max       int
	forgetful bool
}

var _ io.Writer = (*bounded)(nil)

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.buf.Write(p[:room])
	if b.forgetful {
		return len(p), nil
	}
	return room, fmt.Errorf("it printed more than %d bytes", b.max)
}

func (b *bounded) String() string { return b.buf.String() }
