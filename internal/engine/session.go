package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// homeDir is an author's HOME in its run's directory, kept from leg to leg.
const homeDir = "home"

// session runs the author beside a watcher that answers its questions.
func (e *Engine) session(ctx context.Context, r *Run, k *channel.Kernel) (sandbox.Result, error) {
	stop, err := e.watch(r, k)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer stop()
	// A prune takes the home of a run that has ended, and a retry may come after it.
	if err := os.Mkdir(r.path(homeDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return sandbox.Result{}, fmt.Errorf("making the author's home: %w", err)
	}
	command, err := r.Sandbox.Command(e.authorSpec(r), r.Command)
	if err != nil {
		return sandbox.Result{}, err
	}
	files, err := openSession(r)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer files.close()
	return command.Run(ctx, files.stdio(), sandbox.Limits{Walltime: r.LegTime.Duration})
}

func (e *Engine) authorSpec(r *Run) sandbox.Spec {
	ends := e.Now().Add(r.LegTime.Duration).Unix()
	return sandbox.Spec{
		Workspace: r.Workspace,
		Home:      r.path(homeDir),
		Verbs:     e.Program.Verbs(),
		Read:      slices.Concat(r.Read, e.Keys),
		Network:   r.Network,
		Shim:      e.Program.Command("shim"),
		Env: sandbox.Environment(e.Program.Verbs(), r.path(homeDir), append(slices.Clone(e.Author),
			"OUTERLOOP_WORKSPACE="+r.Workspace,
			"OUTERLOOP_RUN="+r.ID,
			"OUTERLOOP_AGENT="+r.Agent,
			"OUTERLOOP_ROLE="+r.Role(),
			"OUTERLOOP_LEG="+strconv.Itoa(r.Leg),
			"OUTERLOOP_LEG_ENDS="+strconv.FormatInt(ends, 10),
			"OUTERLOOP_TASK_GPUS="+strconv.Itoa(r.GPUs),
			"OUTERLOOP_SESSION="+r.Session,
		)...),
	}
}

// sessionFiles are an author's standard streams.
type sessionFiles struct{ in, out, err *os.File }

// openSession opens the streams. The prompt is read from a file, which ends
// where it ends and can be read again by whoever looks; output of an earlier
// attempt of the same leg is kept and added to.
func openSession(r *Run) (f sessionFiles, err error) {
	if f.in, err = os.Open(r.legPath(r.Leg, "prompt.md")); err != nil {
		return f, err
	}
	appendTo := func(name string) *os.File {
		file, openErr := os.OpenFile(r.legPath(r.Leg, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		err = errors.Join(err, openErr)
		return file
	}
	f.out, f.err = appendTo("stdout"), appendTo("stderr")
	if err != nil {
		f.close()
	}
	return f, err
}

func (f sessionFiles) stdio() sandbox.Stdio { return sandbox.Stdio{In: f.in, Out: f.out, Err: f.err} }

func (f sessionFiles) close() {
	for _, file := range []*os.File{f.in, f.out, f.err} {
		if file != nil {
			file.Close()
		}
	}
}
