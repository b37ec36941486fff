package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed testdata/pingpong.c
var pingpongSource []byte

//go:embed testdata/empty/main.go
var emptySource []byte

// Lab is where measurements are made: directories on memory and on disk, and
// the programs that are measured.
type Lab struct {
	Memory, Disk string // directories that Close removes
	self         string // this program; see Child
	bin          string
}

// NewLab builds the yardsticks. bin holds the verbs; self is a program that calls
// [Child] with its arguments.
func NewLab(ctx context.Context, bin, self, disk string) (l *Lab, err error) {
	l = &Lab{self: self}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.bin, err = filepath.Abs(bin); err != nil {
		return l, err
	}
	memory := "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		memory = ""
	}
	if l.Memory, err = os.MkdirTemp(memory, "outerloop-bench-"); err != nil {
		return l, err
	}
	// The go command passes over a name with a dot.
	if l.Disk, err = os.MkdirTemp(disk, ".outerloop-bench-"); err != nil {
		return l, err
	}
	for name, source := range map[string][]byte{"pingpong.c": pingpongSource, "empty/main.go": emptySource} {
		path := filepath.Join(l.Disk, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return l, err
		}
		if err := os.WriteFile(path, source, 0o600); err != nil {
			return l, err
		}
	}
	if err := run(ctx, "cc", "-O2", "-o", l.pingpong(), filepath.Join(l.Disk, "pingpong.c")); err != nil {
		return l, err
	}
	return l, run(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", l.empty(), filepath.Join(l.Disk, "empty/main.go"))
}

func run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	return nil
}

// Close removes the directories.
func (l *Lab) Close() error {
	var errs []error
	for _, dir := range []string{l.Memory, l.Disk} {
		if dir != "" {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}

func (l *Lab) pingpong() string { return filepath.Join(l.Disk, "pingpong") }
func (l *Lab) empty() string    { return filepath.Join(l.Disk, "empty-program") }

func (l *Lab) verb(name string) string { return filepath.Join(l.bin, "syscall-"+name) }

// barePingPong has the C program do so many rounds. Above a step of 0 it polls.
func (l *Lab) barePingPong(ctx context.Context, under string, rounds int, step time.Duration) (Times, error) {
	dir, err := os.MkdirTemp(under, "bare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := exec.CommandContext(ctx, l.pingpong(), dir, strconv.Itoa(rounds), strconv.Itoa(len(benchAnswer)),
		strconv.FormatInt(step.Microseconds(), 10)).Output()
	if err != nil {
		return nil, fmt.Errorf("the ping-pong in C: %w", err)
	}
	var times Times
	for line := range strings.FieldsSeq(string(out)) {
		ns, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the ping-pong in C: %w", err)
		}
		times = append(times, time.Duration(ns))
	}
	return times, nil
}
