package sandbox_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// patience bounds what would otherwise hang; nothing is expected to take long.
const patience = time.Minute

// The test binary is its own shim, and its own caller of Run for the tests that
// have to kill one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shim":
			os.Exit(sandbox.Shim(os.Args[2:], os.Stderr))
		case "caller":
			os.Exit(caller(os.Args[2], os.Args[3], os.Args[4]))
		}
	}
	os.Exit(m.Run())
}

func shim(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "shim"}
}

// eachKind runs the test with every kind that works here. Bubblewrap is what
// this package is for: where it is missing, the test fails and says why.
func eachKind(t *testing.T, test func(t *testing.T, kind sandbox.Kind)) {
	t.Helper()
	for _, kind := range []sandbox.Kind{sandbox.Bwrap, sandbox.None} {
		t.Run(string(kind), func(t *testing.T) {
			if kind == sandbox.Bwrap {
				needBwrap(t)
			}
			test(t, kind)
		})
	}
}

func needBwrap(t *testing.T) {
	t.Helper()
	if kind, reason := sandbox.Detect(t.Context()); kind != sandbox.Bwrap {
		t.Fatalf("these tests need a working bwrap: %v", reason)
	}
}

// box is a spec with a directory for everything, and a place for output.
type box struct {
	sandbox.Spec
	out, err string
}

func newBox(t *testing.T) *box {
	t.Helper()
	dir := t.TempDir()
	b := &box{out: filepath.Join(dir, "stdout"), err: filepath.Join(dir, "stderr")}
	b.Workspace = mkdir(t, dir, "workspace")
	b.Home = mkdir(t, dir, "home")
	b.Verbs = mkdir(t, dir, "verbs")
	b.Env = sandbox.Environment(b.Verbs, b.Home)
	b.Shim = shim(t)
	return b
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// start runs a shell script in the background.
func (b *box) start(t *testing.T, ctx context.Context, kind sandbox.Kind, limits sandbox.Limits, script string) func() (sandbox.Result, error) {
	t.Helper()
	cmd, err := kind.Command(b.Spec, []string{"sh", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	out, errw := create(t, b.out), create(t, b.err)
	type answer struct {
		res sandbox.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := cmd.Run(ctx, sandbox.Stdio{Out: out, Err: errw}, limits)
		done <- answer{res, err}
	}()
	return func() (sandbox.Result, error) {
		t.Helper()
		select {
		case a := <-done:
			return a.res, a.err
		case <-time.After(patience):
			t.Fatal("the command never ended")
			panic("unreachable")
		}
	}
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// run runs a script that is expected to succeed and returns its output.
func (b *box) run(t *testing.T, kind sandbox.Kind, script string) string {
	t.Helper()
	res, err := b.start(t, t.Context(), kind, sandbox.Limits{}, script)()
	if err != nil || res.Code != 0 || res.Cause != sandbox.Exited {
		t.Fatalf("%q ended with %+v, %v\nstderr: %s", script, res, err, read(t, b.err))
	}
	return read(t, b.out)
}

func TestExitStatus(t *testing.T) {
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		for script, want := range map[string]int{
			"exit 0":           0,
			"exit 3":           3,
			"exit 1":           1,
			"kill -KILL $$":    137,
			"kill -SEGV $$":    139,
			"exec nothing-so":  127,
			"cat </dev/stdin":  0,
			"echo x >/dev/tty": 2, // there is no terminal; dash's status for a failed redirection
		} {
			b := newBox(t)
			res, err := b.start(t, t.Context(), kind, sandbox.Limits{}, script)()
			if diff := cmp.Diff(sandbox.Result{Code: want}, res); diff != "" || err != nil {
				t.Errorf("%q: %v\n%s\nstderr: %s", script, err, diff, read(t, b.err))
			}
		}
	})
}

func TestCommandNotFound(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	cmd, err := sandbox.Bwrap.Command(b.Spec, []string{"no-such-program"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := cmd.Run(t.Context(), sandbox.Stdio{Err: create(t, b.err)}, sandbox.Limits{})
	if err != nil || res.Code != 127 {
		t.Errorf("got %+v, %v; want status 127", res, err)
	}
	if _, err := sandbox.None.Command(b.Spec, []string{"no-such-program"}); err == nil {
		t.Error("kind none accepts a program that is not there")
	}
}

// TestEnvironmentExact sees the environment as exec(2) passed it on, before a
// shell has added its own.
func TestEnvironmentExact(t *testing.T) {
	t.Setenv("OUTERLOOP_TEST_SECRET", "leaks")
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBox(t)
		b.Env = sandbox.Environment(b.Verbs, b.Home, "SWEEP_INDEX=3", "TERM=x", "EMPTY=")
		cmd, err := kind.Command(b.Spec, []string{"env", "-0"})
		if err != nil {
			t.Fatal(err)
		}
		res, err := cmd.Run(t.Context(), sandbox.Stdio{Out: create(t, b.out), Err: create(t, b.err)}, sandbox.Limits{})
		if err != nil || res.Code != 0 {
			t.Fatalf("%+v, %v: %s", res, err, read(t, b.err))
		}
		got := strings.Split(strings.TrimSuffix(read(t, b.out), "\x00"), "\x00")
		want := []string{
			"PATH=" + b.Verbs + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + b.Home, "LANG=C.UTF-8",
			"TMPDIR=/tmp", "TERM=x", "SWEEP_INDEX=3", "EMPTY=", "PWD=" + b.Workspace,
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("environment inside (-want +got):\n%s", diff)
		}
	})
}

func TestEnvironmentIsNotInTheProcessList(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	b.Env = append(b.Env, "API_KEY=very-secret")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := b.start(t, ctx, sandbox.Bwrap, sandbox.Limits{Grace: patience}, "touch up; while :; do sleep 0.05; done")
	awaitFile(t, filepath.Join(b.Workspace, "up"))
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		if line, _ := os.ReadFile(list); strings.Contains(string(line), "very-secret") {
			t.Errorf("%s shows the key", list)
		}
	}
	cancel()
	wait()
}

func TestNoDescriptorsInherited(t *testing.T) {
	// One without close-on-exec, as a careless parent of ours would leave it.
	leak, err := syscall.Open("/", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	eachKind(t, func(t *testing.T, kind sandbox.Kind) {
		b := newBox(t)
		// ls itself opens the directory that it lists, as one more.
		if got := b.run(t, kind, "exec ls /proc/self/fd"); got != "0\n1\n2\n3\n" {
			t.Errorf("open descriptors inside: %q", got)
		}
	})
}

func TestHomeIsHidden(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	secrets := mkdir(t, filepath.Dir(b.Workspace), "secrets")
	write(t, filepath.Join(secrets, "key"), "secret")
	// The workspace's parent is there, as the way to it, with what was listed
	// and nothing else.
	got := b.run(t, sandbox.Bwrap, "ls "+filepath.Dir(b.Workspace)+"; ls -A /tmp /root /home 2>/dev/null; cat "+secrets+"/key /etc/shadow; true")
	if strings.Contains(got, "secret") {
		t.Errorf("something of the host shows: %q", got)
	}
	for _, path := range []string{os.Getenv("HOME"), "/var", "/sys", "/opt"} {
		if got := b.run(t, sandbox.Bwrap, "ls -A '"+path+"' 2>/dev/null; true"); got != "" && path != "" {
			t.Errorf("inside %s there is %q", path, got)
		}
	}
	if got := b.run(t, sandbox.Bwrap, "ls /etc; id -un; cat /etc/passwd"); strings.Contains(got, "shadow") || !strings.Contains(got, "outerloop:x:") {
		t.Errorf("/etc and the own user: %q", got)
	}
}

func TestNoPrivileges(t *testing.T) {
	needBwrap(t)
	b := newBox(t)
	if got := b.run(t, sandbox.Bwrap, "grep CapEff /proc/self/status"); strings.Trim(got, "CapEf: \t\n0") != "" {
		t.Errorf("capabilities inside: %q", got)
	}
	for _, path := range []string{"/x", "/usr/x", "/etc/x", "/proc/sys/kernel/core_pattern", b.Verbs + "/x"} {
		if got := b.run(t, sandbox.Bwrap, "(: >>"+path+") 2>/dev/null && echo opened; true"); got != "" {
			t.Errorf("%s can be written", path)
		}
	}
}

func TestNetwork(t *testing.T) {
	needBwrap(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	connect := bash + " -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "' 2>/dev/null && echo connected; true"
	b := newBox(t)
	if got := b.run(t, sandbox.Bwrap, connect); got != "" {
		t.Error("without a network the host's loopback can be reached")
	}
	b.Network = true
	if got := b.run(t, sandbox.Bwrap, connect); got != "connected\n" {
		t.Error("with a network the host's loopback cannot be reached")
	}
}
