package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kind is a way to run a command. It is written into job records as it is, so
// that a job is run by the kind that was decided on when it was queued, and by
// no weaker one.
type Kind string

const (
	// Bwrap is bubblewrap(1).
	Bwrap Kind = "bwrap"
	// None confines nothing.
	None Kind = "none"
)

// Detect returns [Bwrap] when a trivial sandbox of that kind runs here. Else it
// returns [None] and, as the error, the reason and what an operator can do
// about it.
func Detect(ctx context.Context) (Kind, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return None, errors.New("bwrap is not installed; install the package bubblewrap")
	}
	args := append(base(false), "--tmpfs", "/tmp", "--remount-ro", "/", "--", "/bin/sh", "-c", ":")
	cmd := exec.CommandContext(ctx, bwrap, args...)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return Bwrap, nil
	}
	if ctx.Err() != nil {
		return None, fmt.Errorf("bwrap gave no answer: %w", context.Cause(ctx))
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if said == "" {
		said = err.Error()
	}
	return None, fmt.Errorf("bwrap does not work here (%s); let users create namespaces: "+
		"sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone and "+
		"kernel.apparmor_restrict_unprivileged_userns permitting, and in a container a seccomp profile that allows unshare", said)
}

// Command says how to run argv as the spec describes. An error is a spec that
// cannot be had: a path that is missing, two trees that may not nest, a kind
// whose program is not installed.
func (k Kind) Command(spec Spec, argv []string) (*Command, error) {
	if len(argv) == 0 {
		return nil, errors.New("sandbox: no command")
	}
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	// POSIX shells and many programs trust PWD; bwrap sets it, so both kinds do.
	env := merge(spec.Env, "PWD="+spec.Workspace)
	switch k {
	case None:
		program, err := lookPath(argv[0], env)
		if err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		return &Command{program: program, argv: argv, env: env, dir: spec.Workspace}, nil
	case Bwrap:
		return bwrapCommand(spec, env, argv)
	}
	return nil, fmt.Errorf("sandbox: unknown kind %q", string(k))
}

// lookPath finds a program in the PATH of the environment that it will have.
// What PATH the caller has is of no importance.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(path) {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
