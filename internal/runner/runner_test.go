package runner_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/runner"
	"github.com/outerloop-go/outerloop/internal/sandbox"
	"github.com/outerloop-go/outerloop/internal/seal"
)

// patience bounds what would otherwise hang; nothing is expected to take long.
const patience = time.Minute

// The test binary is its own shim, and a job's process for the tests that have
// to signal or kill one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shim":
			os.Exit(sandbox.Shim(os.Args[2:], os.Stderr))
		case "job":
			os.Exit(job(os.Args[2], os.Args[3]))
		}
	}
	os.Exit(m.Run())
}

// job is what outerloop-tick job does.
func job(scratch, dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	a, err := runner.ReadAllocation(os.LookupEnv)
	if err != nil {
		panic(err)
	}
	r := runner.Runner{Scratch: scratch, Shim: []string{self, "shim"}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	code, err := r.Run(ctx, dir, a)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
	}
	return code
}

func eachKind(t *testing.T, test func(t *testing.T, kind sandbox.Kind)) {
	t.Helper()
	for _, kind := range []sandbox.Kind{sandbox.Bwrap, sandbox.None} {
		t.Run(string(kind), func(t *testing.T) {
			if found, reason := sandbox.Detect(t.Context()); kind == sandbox.Bwrap && found != kind {
				t.Fatalf("these tests need a working bwrap: %v", reason)
			}
			test(t, kind)
		})
	}
}

// bench is a state root with one launch on a seal.
type bench struct {
	runner.Job
	runner  runner.Runner
	dir     string // of the launch
	scratch string
	log     *strings.Builder
}

func newBench(t *testing.T, kind sandbox.Kind) *bench {
	t.Helper()
	root := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(root, "workspace")
	if err := os.MkdirAll(filepath.Join(workspace, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(workspace, "sub", "sealed"), "sealed\n")
	b := &bench{
		dir:     filepath.Join(root, "eval-launch-probe"),
		scratch: filepath.Join(root, "scratch"),
		log:     &strings.Builder{},
	}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	b.runner = runner.Runner{Scratch: b.scratch, Shim: []string{self, "shim"}, Log: log}
	b.Job = runner.Job{Run: "r1", Name: "probe", GitDir: filepath.Join(root, "seal.git"), Sandbox: kind}
	b.Commit = sealed(t, b.GitDir, workspace, log)
	return b
}

func sealed(t *testing.T, gitDir, workspace string, log *slog.Logger) string {
	t.Helper()
	store, err := seal.Open(t.Context(), gitDir, seal.Limits{}, log)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := dirfd.Open(workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	s, err := store.Seal(t.Context(), dir, "test", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return s.Commit
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's content, and "<none>" where there is no file.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// run runs the command as a job without a task, and wants it to run.
func (b *bench) run(t *testing.T, command string) int {
	t.Helper()
	return b.runAs(t, command, runner.Allocation{ID: "1", Task: -1})
}

func (b *bench) runAs(t *testing.T, command string, a runner.Allocation) int {
	t.Helper()
	b.Command = command
	if err := runner.WriteJob(b.dir, b.Job); err != nil {
		t.Fatal(err)
	}
	code, err := b.runner.Run(t.Context(), b.dir, a)
	if err != nil {
		t.Fatalf("%v\nstderr: %s\nlog: %s", err, read(t, filepath.Join(b.dir, "stderr")), b.log)
	}
	return code
}

// scratchIsEmpty fails the test when a job has left something.
func (b *bench) scratchIsEmpty(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(b.scratch)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left in scratch: %v\nlog: %s", entries, b.log)
	}
}

func TestJob(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		b.Artifacts = []string{"out/result.json", "missing"}
		code := b.run(t, "cat sub/sealed; echo oops >&2; mkdir out; echo 1 >out/result.json; exit 3")
		if code != 3 {
			t.Errorf("exit status %d, want 3", code)
		}
		for name, want := range map[string]string{
			"stdout": "sealed\n", "stderr": "oops\n", "exit-code": "3\n", "claim": "1\n",
			"artifacts/out/result.json": "1\n",
			"command.txt":               b.Command + "\n",
		} {
			if got := read(t, filepath.Join(b.dir, name)); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		got, err := runner.ReadArtifacts(b.dir)
		want := []runner.Artifact{
			{Path: "out/result.json", Bytes: 2},
			{Path: "missing", Skipped: "the command did not leave it"},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("artifacts: %v\n%s", err, diff)
		}
		b.scratchIsEmpty(t)
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OUTERLOOP_TEST_SECRET", "leaks")
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		b.CPUs = 2
		b.Env = []string{"LANG=C", "OUTERLOOP_RUN=forged"}
		devices := "0,1"
		b.runAs(t, "tr '\\0' '\\n' </proc/self/environ", runner.Allocation{ID: "7_3", Task: 3, Devices: &devices})
		var got []string
		for _, line := range strings.Fields(read(t, b.dir+".3/stdout")) {
			key, value, _ := strings.Cut(line, "=")
			switch key {
			case "HOME", "PWD": // in scratch, under a name that is different each time
				if !strings.HasPrefix(value, b.scratch) {
					t.Errorf("%s is not in scratch", line)
				}
				line = key
			case "TMPDIR":
				if (kind == sandbox.Bwrap) != (value == "/tmp") {
					t.Errorf("%s with kind %s", line, kind)
				}
				line = key
			case "OLDPWD", "SHLVL", "_": // the shell's own, where it is bash
				continue
			}
			got = append(got, line)
		}
		slices.Sort(got)
		want := []string{
			"CUDA_VISIBLE_DEVICES=0,1", "HOME", "LANG=C", "OMP_NUM_THREADS=2", "OUTERLOOP_JOB=probe",
			"OUTERLOOP_RUN=r1", "PATH=/usr/local/bin:/usr/bin:/bin", "PWD", "SWEEP_INDEX=3", "TERM=dumb", "TMPDIR",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	})
}

func TestSweepTasksAreApart(t *testing.T) {
	b := newBench(t, sandbox.None)
	for i := range 3 {
		if code := b.runAs(t, "echo $SWEEP_INDEX", runner.Allocation{ID: "7_" + strconv.Itoa(i), Task: i}); code != 0 {
			t.Errorf("task %d: exit status %d", i, code)
		}
	}
	for i := range 3 {
		dir := b.dir + "." + strconv.Itoa(i)
		if got := read(t, filepath.Join(dir, "stdout")) + read(t, filepath.Join(dir, "exit-code")); got != strconv.Itoa(i)+"\n0\n" {
			t.Errorf("task %d: %q", i, got)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("task %d: directory %v, %v; want mode 0700", i, info.Mode(), err)
		}
	}
}

func TestCannotRun(t *testing.T) {
	cases := map[string]func(*bench){
		"no such commit":  func(b *bench) { b.Commit = strings.Repeat("0", 40) },
		"missing tree":    func(b *bench) { b.Read = []string{"/no/such/tree"} },
		"unknown kind":    func(b *bench) { b.Sandbox = "jail" },
		"weaker than had": func(b *bench) { b.Sandbox, b.runner.Shim = sandbox.Bwrap, nil },
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, sandbox.None)
			breakIt(b)
			b.Command = "touch ran"
			if err := runner.WriteJob(b.dir, b.Job); err != nil {
				t.Fatal(err)
			}
			code, err := b.runner.Run(t.Context(), b.dir, runner.Allocation{ID: "1", Task: -1})
			if code != 1 || err == nil {
				t.Errorf("got %d, %v; want 1 and an error", code, err)
			}
			if got := read(t, filepath.Join(b.dir, "exit-code")); got != "<none>" {
				t.Errorf("exit-code %q for a command that never ran", got)
			}
			if got := read(t, filepath.Join(b.dir, "stderr")); !strings.Contains(got, "could not be run") {
				t.Errorf("the author is told %q", got)
			}
			b.scratchIsEmpty(t)
		})
	}
}

func TestUnknownKeyRefused(t *testing.T) {
	b := newBench(t, sandbox.None)
	write(t, filepath.Join(b.dir, "job.json"), `{"command":"true","commit":"x","sandbox":"none","confine_more":true}`)
	if _, err := b.runner.Run(t.Context(), b.dir, runner.Allocation{ID: "1", Task: -1}); err == nil || !strings.Contains(err.Error(), "confine_more") {
		t.Errorf("got %v", err)
	}
}

// process starts a job in a process of its own.
func (b *bench) process(t *testing.T, command string) *exec.Cmd {
	t.Helper()
	b.Command = command
	if err := runner.WriteJob(b.dir, b.Job); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "job", b.scratch, b.dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "OUTERLOOP_JOB_ID=1"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// await returns when the file in the job's directory has some content.
func (b *bench) await(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(b.dir, name)); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatalf("%s never came", name)
}

// TestTerminated: the command gets the SIGTERM of the runner, time to save its
// work, and its artifacts out, but no exit-code.
func TestTerminated(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		b.Artifacts = []string{"checkpoint"}
		cmd := b.process(t, "trap 'echo saved >checkpoint; echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done")
		b.await(t, "stdout")
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 143 {
			t.Errorf("the runner's exit status is %d, want 143", code)
		}
		for name, want := range map[string]string{
			"stdout": "up\nbye\n", "artifacts/checkpoint": "saved\n", "exit-code": "<none>",
		} {
			if got := read(t, filepath.Join(b.dir, name)); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		b.scratchIsEmpty(t)
	})
}

// TestStruckFirst: the scheduler's SIGTERM may reach the command before the runner, and is
// then no more the command's own end than otherwise. One that nobody else gets is.
func TestStruckFirst(t *testing.T) {
	b := newBench(t, sandbox.None)
	cmd := b.process(t, "echo up; kill -TERM $$")
	b.await(t, "stdout")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := read(t, filepath.Join(b.dir, "exit-code")); got != "<none>" {
		t.Errorf("ended from outside: exit-code %q", got)
	}
	b = newBench(t, sandbox.None)
	if code := b.run(t, "kill -TERM $$"); code != 143 {
		t.Errorf("ended by itself: exit status %d, want 143", code)
	}
	if got := read(t, filepath.Join(b.dir, "exit-code")); got != "143\n" {
		t.Errorf("ended by itself: exit-code %q", got)
	}
}

// TestKilled: a runner that is killed leaves no process, no exit-code, and a
// scratch that the next sweep removes, and its job can be requeued.
func TestKilled(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBench(t, kind)
		cmd := b.process(t, "trap '' TERM HUP; echo first; exec sleep 1000")
		b.await(t, "stdout")
		if err := runner.SweepScratch(b.scratch, b.runner.Log); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(b.scratch + "/job-*/tree/sub/sealed"); len(left) != 1 {
			t.Errorf("after a sweep the live job has %v", left)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		b.nothingRuns(t)
		if err := runner.SweepScratch(b.scratch, b.runner.Log); err != nil {
			t.Error(err)
		}
		b.scratchIsEmpty(t)
		if got := read(t, filepath.Join(b.dir, "exit-code")); got != "<none>" {
			t.Errorf("exit-code %q", got)
		}
		if code := b.run(t, "echo second"); code != 0 {
			t.Errorf("requeued: exit status %d", code)
		}
		if got := read(t, filepath.Join(b.dir, "stdout")); got != "second\n" {
			t.Errorf("requeued: stdout %q", got)
		}
	})
}

// nothingRuns waits until no process has its working directory in scratch.
func (b *bench) nothingRuns(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		links, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			t.Fatal(err)
		}
		alive := slices.ContainsFunc(links, func(link string) bool {
			dir, _ := os.Readlink(link)
			return strings.HasPrefix(dir, b.scratch)
		})
		if !alive {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a process of the job lives on")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
