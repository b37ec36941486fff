//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// TestMain lets the test binary be its own shepherd, and a kernel that submits.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shepherd":
			log := slog.New(slog.NewTextHandler(os.Stderr, nil))
			// Not os.Exit, which makes a race-built program sleep for a second.
			// Its races are in shepherd.log all the same.
			syscall.Exit(Shepherd(os.Args[2:], log))
		case "submit": // directory, work directory, token, script
			os.Exit(submitMain(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// patience is how long anything may take on a machine that is busy with other
// things. No test passes or fails by it as long as the code is right.
const patience = 60 * time.Second

// rig is a backend with a state directory, and a second directory, work, in which
// its jobs run and leave marks for the test.
type rig struct {
	*Backend
	t    *testing.T
	work string
	opt  Options
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{t: t, work: t.TempDir(), opt: Options{
		Dir:      filepath.Join(t.TempDir(), "state"),
		Shepherd: []string{testBinary(t), "shepherd"},
		CPUs:     2,
		Grace:    patience,
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
	}}
	for _, f := range change {
		f(&r.opt)
	}
	r.Backend = r.open()
	t.Cleanup(r.close)
	return r
}

func testBinary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// open returns one more backend of the same directory.
func (r *rig) open() *Backend {
	r.t.Helper()
	b, err := Open(r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// close ends every job and waits for the shepherds, which would otherwise write
// into directories that are being removed.
func (r *rig) close() {
	v, err := r.store.enter(context.Background())
	if err != nil {
		r.t.Error(err)
		return
	}
	var ids []string
	for _, j := range v.jobs {
		ids = append(ids, j.name())
	}
	v.leave()
	if err := r.Cancel(context.Background(), ids...); err != nil {
		r.t.Error(err)
	}
	// The grace is long, so that no test depends on it. Here nobody needs it.
	for _, id := range r.shepherds() {
		r.killTask(id)
	}
	r.eventually("the shepherds end", func() bool {
		r.queue()
		return len(r.shepherds()) == 0
	})
	r.checkLogs()
}

// checkLogs fails the test for what a shepherd printed as it crashed.
func (r *rig) checkLogs() {
	logs, err := filepath.Glob(filepath.Join(r.opt.Dir, "*", "*", "shepherd.log"))
	if err != nil {
		r.t.Error(err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			r.t.Error(err)
		}
		if s := string(text); strings.Contains(s, "DATA RACE") || strings.Contains(s, "goroutine ") {
			r.t.Errorf("a shepherd crashed:\n%s", s)
		}
	}
}

// shepherds returns those that own a task and live.
func (r *rig) shepherds() []identity {
	r.t.Helper()
	var ids []identity
	for _, dir := range []string{"live", "ended"} {
		paths, err := filepath.Glob(filepath.Join(r.opt.Dir, dir, "*", "*.start"))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, path := range paths {
			var start startRecord
			if found, err := loadJSON(path, &start); !found || err != nil {
				continue // moved meanwhile, or corrupt on purpose
			}
			if alive, err := start.Owner.alive(); alive || err != nil {
				ids = append(ids, start.Owner)
			}
		}
	}
	return ids
}

// script makes a job of a shell script that runs in the work directory.
func (r *rig) script(text string, change ...func(*slurm.JobSpec)) slurm.JobSpec {
	spec := slurm.JobSpec{
		Name:    "test",
		Command: []string{"/bin/sh", "-c", text},
		Dir:     r.work,
		Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Minutes: 10,
		CPUs:    1,
		Output:  "out",
	}
	for _, f := range change {
		f(&spec)
	}
	return spec
}

// until is a piece of script that waits for a mark.
func until(mark string) string {
	return "while [ ! -e " + mark + " ]; do sleep 0.02; done; "
}

func (r *rig) submit(text string, change ...func(*slurm.JobSpec)) string {
	r.t.Helper()
	id, err := r.Submit(r.t.Context(), r.script(text, change...))
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) queue() map[string]slurm.Row {
	r.t.Helper()
	rows, err := r.Queue(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	byID := map[string]slurm.Row{}
	for _, row := range rows {
		byID[row.ID] = row
	}
	return byID
}

// look is how one job stands. Its State is "" when the backend does not know it.
func (r *rig) look(id string) slurm.Outcome {
	r.t.Helper()
	outs, err := r.Outcomes(context.Background(), []string{id})
	if err != nil {
		r.t.Fatal(err)
	}
	return outs[id]
}

// wait waits for the end of a job, which has to be of the given kind.
func (r *rig) wait(id string, want slurm.State) slurm.Outcome {
	r.t.Helper()
	var out slurm.Outcome
	r.eventually("job "+id+" ends", func() bool {
		out = r.look(id)
		return out.State.Terminal()
	})
	if out.State != want {
		r.t.Errorf("job %s ended %s, want %s; it printed %q", id, out.State, want, r.read("out"))
	}
	return out
}

// waitFile waits for a mark without asking the backend, so that nobody but
// shepherds can have brought it about.
func (r *rig) waitFile(name string) {
	r.t.Helper()
	r.eventually("file "+name+" appears", func() bool { return r.has(name) })
}

func (r *rig) has(name string) bool {
	r.t.Helper()
	_, err := os.Lstat(filepath.Join(r.work, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return err == nil
}

func (r *rig) mark(name string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.work, name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.work, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) lines(name string) []string {
	r.t.Helper()
	return strings.Fields(r.read(name))
}

func (r *rig) eventually(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}
