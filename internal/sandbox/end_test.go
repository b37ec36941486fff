package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// awaitFile returns when the file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatalf("%s never came", path)
}

// working returns the processes whose working directory is the workspace or
// lies below it, wherever they were started from. Nothing else tells ours from
// those of tests that run at the same time.
func (b *box) working(t *testing.T) (pids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if dir, _ := os.Readlink(link); strings.HasPrefix(dir, b.Workspace) {
			pids = append(pids, strings.Split(link, "/")[2])
		}
	}
	return pids
}

// trapped takes its time after a SIGTERM, as a command that saves its work.
const trapped = `
trap 'echo got TERM; sleep 0.2; echo saved >saved; exit 7' TERM
touch up
while :; do sleep 0.05; done`

// stubborn ignores SIGTERM, and so do its children.
const stubborn = `
trap '' TERM
sh -c 'while :; do sleep 0.05; done' &
touch up
while :; do sleep 0.05; done`

func TestTermReachesTheCommand(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		ends := map[string]func(b *box) (sandbox.Result, error){
			"walltime": func(b *box) (sandbox.Result, error) {
				// A walltime that is over before the trap is set shows
				// nothing; how long that takes only the machine knows.
				for walltime := time.Second; ; walltime *= 2 {
					limits := sandbox.Limits{Walltime: walltime, Grace: patience / 2}
					res, err := b.start(t, t.Context(), kind, limits, trapped)()
					if _, statErr := os.Stat(filepath.Join(b.Workspace, "up")); statErr == nil {
						return res, err
					}
				}
			},
			"context": func(b *box) (sandbox.Result, error) {
				ctx, cancel := context.WithCancel(t.Context())
				wait := b.start(t, ctx, kind, sandbox.Limits{Grace: patience}, trapped)
				awaitFile(t, filepath.Join(b.Workspace, "up"))
				cancel()
				return wait()
			},
		}
		want := map[string]sandbox.Cause{"walltime": sandbox.Walltime, "context": sandbox.Canceled}
		for name, end := range ends {
			b := newBox(t)
			res, err := end(b)
			if err != nil || res.Code != 7 || res.Cause != want[name] {
				t.Errorf("%s: %+v, %v; want 7 from the trap", name, res, err)
			}
			if got := read(t, b.out); got != "got TERM\n" {
				t.Errorf("%s: printed %q", name, got)
			}
			if got := read(t, filepath.Join(b.Workspace, "saved")); got != "saved\n" {
				t.Errorf("%s: the command was not given its grace", name)
			}
		}
	})
}

// TestStrayTerm: a scheduler that signals every process of a job, bwrap's own
// included, ends the command and nothing before it.
func TestStrayTerm(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	wait := b.start(t, t.Context(), sandbox.Bwrap, sandbox.Limits{}, trapped)
	awaitFile(t, filepath.Join(b.Workspace, "up"))
	for _, pid := range b.group(t) {
		exec.Command("kill", "-TERM", pid).Run() // sleeps come and go
	}
	if res, err := wait(); err != nil || res.Code != 7 || res.Cause != sandbox.Exited {
		t.Errorf("%+v, %v; want 7 from the trap", res, err)
	}
}

// group lists the processes in the sandbox's group: bwrap, the sandbox's first
// process, and the command.
func (b *box) group(t *testing.T) []string {
	t.Helper()
	inside := b.working(t)
	if len(inside) == 0 {
		t.Fatal("nothing runs in the workspace")
	}
	pgid, err := exec.Command("ps", "-o", "pgid=", "-p", inside[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	pids, err := exec.Command("pgrep", "-g", strings.TrimSpace(string(pgid))).Output()
	if err != nil {
		t.Fatal(err)
	}
	group := strings.Fields(string(pids))
	if len(group) < 3 {
		t.Fatalf("the group is %v, which cannot be all of it", group)
	}
	return group
}

func TestStubbornIsKilled(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBox(t)
		ctx, cancel := context.WithCancel(t.Context())
		wait := b.start(t, ctx, kind, sandbox.Limits{Grace: 200 * time.Millisecond}, stubborn)
		awaitFile(t, filepath.Join(b.Workspace, "up"))
		cancel()
		if res, err := wait(); err != nil || res.Code != 137 || res.Cause != sandbox.Canceled {
			t.Errorf("%+v, %v; want 137", res, err)
		}
		if left := b.working(t); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
}

// TestStragglers: what the command leaves behind goes with it, in a sandbox
// also when it has made a session of its own.
func TestStragglers(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		leave := "sh -c 'trap \"\" HUP TERM; sleep 1000' & echo done"
		if kind == sandbox.Bwrap {
			leave = "setsid sh -c 'sleep 1000' & " + leave
		}
		b := newBox(t)
		if got := b.run(t, kind, leave); got != "done\n" {
			t.Errorf("printed %q", got)
		}
		// Outside of a sandbox the kill is on its way, but nobody reaps for us.
		for deadline := time.Now().Add(patience); len(b.working(t)) > 0; time.Sleep(5 * time.Millisecond) {
			if kind == sandbox.Bwrap || time.Now().After(deadline) {
				t.Fatalf("processes left: %v", b.working(t))
			}
		}
	})
}

// caller runs a stubborn command until somebody kills it.
func caller(kind, workspace, shim string) int {
	spec := sandbox.Spec{Workspace: workspace, Env: sandbox.Environment("", "/"), Shim: []string{shim, "shim"}}
	cmd, err := sandbox.Kind(kind).Command(spec, []string{"sh", "-c", "trap '' TERM HUP; touch up; exec sleep 1000"})
	if err != nil {
		panic(err)
	}
	cmd.Run(context.Background(), sandbox.Stdio{}, sandbox.Limits{})
	return 0
}

func TestCallerKilled(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBox(t)
		self := shim(t)[0]
		cmd := exec.Command(self, "caller", string(kind), b.Workspace, self)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		awaitFile(t, filepath.Join(b.Workspace, "up"))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		for deadline := time.Now().Add(patience); len(b.working(t)) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("processes outlive their caller: %v", b.working(t))
			}
		}
	})
}

func TestOutputBounded(t *testing.T) {
	b := newBox(t)
	cmd, err := sandbox.None.Command(b.Spec, []string{"sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := cmd.Run(t.Context(), sandbox.Stdio{Out: create(t, b.out)}, sandbox.Limits{Output: 1000})
	if err != nil || res.Code != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	var whole bytes.Buffer
	for i := range 2000 {
		whole.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	got := read(t, b.out)
	notice := "\n[" + strconv.Itoa(whole.Len()-1000) + " bytes left out here]\n"
	if want := whole.String()[:500] + notice + whole.String()[whole.Len()-500:]; got != want {
		t.Errorf("kept %q", got)
	}
}

func TestOutputOfAnEscapedProcess(t *testing.T) {
	b := newBox(t)
	start := time.Now()
	got := b.run(t, sandbox.None, "setsid sh -c 'echo $$ >pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done; echo done")
	exec.Command("kill", strings.TrimSpace(read(t, filepath.Join(b.Workspace, "pid")))).Run()
	if got != "done\n" {
		t.Errorf("printed %q", got)
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("Run waited %v for a process that had left", took)
	}
}

func TestCanceledBeforeStart(t *testing.T) {
	b := newBox(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.start(t, ctx, sandbox.None, sandbox.Limits{}, "touch ran")(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.Workspace, "ran")); err == nil {
		t.Error("the command ran")
	}
}
