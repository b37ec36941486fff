package watcher

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMisfits: what a handler may do wrong fails its own question with a plain
// answer, and no other.
func TestMisfits(t *testing.T) {
	w, impatient := newWatcher(t, Options{}), newWatcher(t, Options{Timeout: 100 * time.Millisecond})
	p, other, stuck := newPeer(t), newPeer(t), newPeer(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	mustAdd(t, impatient, stuck, map[string]Handler{"blocks": func(context.Context) (any, error) { <-release; return nil, nil }})
	mustAdd(t, w, p, map[string]Handler{
		"panics": func(context.Context) (any, error) { panic("a bug") },
		"huge":   func(context.Context) (any, error) { return strings.Repeat("x", 100<<20), nil },
		"raw":    func(context.Context) (any, error) { return json.RawMessage(make([]byte, 100<<20)), nil },
		"odd":    func(context.Context) (any, error) { return func() {}, nil },
		"good":   text("good"),
	})
	mustAdd(t, w, other, map[string]Handler{"good": text("good")})
	for range 2 {
		if got := errorOf(t, stuck.ask("blocks")); !strings.Contains(got, "try again in a minute") {
			t.Errorf("blocks: %q", got)
		}
		for verb, says := range map[string]string{
			"panics": "the kernel failed over this question", "huge": "at most", "raw": "at most", "odd": "cannot be written",
		} {
			if got := errorOf(t, p.ask(verb)); !strings.Contains(got, says) {
				t.Errorf("%s: %q", verb, got)
			}
		}
		for _, peer := range []*peer{p, other} {
			if a := peer.ask("good"); string(a.Data) != "\"good\"\n" {
				t.Errorf("%q", a.Data)
			}
		}
	}
}

// inChild runs a test in a process of its own that the machine is mean to. The
// child is told by the environment, and says "ready" before its last step, which
// it takes when its standard input ends; meanwhile it is looked at.
func inChild(t *testing.T, test string, attr *syscall.SysProcAttr, look func(pid int), env ...string) (ran bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, "WATCHER_TEST_CHILD="+test)...)
	cmd.SysProcAttr = attr
	stdin, err := cmd.StdinPipe()
	mustDo(t, err)
	stdout, err := cmd.StdoutPipe()
	mustDo(t, err)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Logf("this machine does not let such a process be: %v", err)
		return false
	}
	var said strings.Builder
	out := bufio.NewReader(stdout)
	for line := ""; line != "ready\n"; said.WriteString(line) {
		if line, err = out.ReadString('\n'); err != nil {
			break
		}
	}
	if err == nil && look != nil {
		look(cmd.Process.Pid)
	}
	stdin.Close()
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v:\n%s%s", err, &said, rest)
	}
	return true
}

func isChild(test string) bool { return os.Getenv("WATCHER_TEST_CHILD") == test }

// ready is the child's side of inChild.
func ready() {
	fmt.Println("\nready")
	io.Copy(io.Discard, os.Stdin)
}

// newUserNamespace is where root has limits of its own.
func newUserNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// TestWatchLimit: the system gives eight watches. The channels that get none are
// polled, the log says so, and every question is answered.
func TestWatchLimit(t *testing.T) {
	if !isChild("TestWatchLimit") {
		inChild(t, "TestWatchLimit", newUserNamespace(), nil)
		return
	}
	mustDo(t, os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("8"), 0))
	var log logBuffer
	w := newWatcher(t, Options{Poll: 20 * time.Millisecond, Log: log.logger()})
	var peers []*peer
	for range 12 {
		p := newPeer(t)
		mustAdd(t, w, p, map[string]Handler{"a": text("a")})
		peers = append(peers, p)
	}
	for range 2 {
		for _, p := range peers {
			if a := p.ask("a"); string(a.Data) != "\"a\"\n" {
				t.Errorf("%q", a.Data)
			}
		}
	}
	const said = "no file events are to be had"
	within(t, "the log says which are polled", func() bool { return strings.Count(log.String(), said) >= 4 })
	if n := strings.Count(log.String(), said); n > 12 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	ready()
}

// TestInstanceLimit: the system gives no inotify instance at all.
func TestInstanceLimit(t *testing.T) {
	if !isChild("TestInstanceLimit") {
		inChild(t, "TestInstanceLimit", newUserNamespace(), nil)
		return
	}
	mustDo(t, os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("0"), 0))
	var log logBuffer
	w := newWatcher(t, Options{Poll: 20 * time.Millisecond, Log: log.logger()})
	p := newPeer(t)
	mustAdd(t, w, p, map[string]Handler{"a": text("a")})
	for range 3 {
		if a := p.ask("a"); string(a.Data) != "\"a\"\n" {
			t.Errorf("%q", a.Data)
		}
	}
	if !strings.Contains(log.String(), "no file events, channels are polled") {
		t.Errorf("the log says %s", log.String())
	}
	ready()
}

// TestSmallMemory: a watcher of two thousand channels that are asked in, with
// answers of half a megabyte among them, stays below 64 MB.
func TestSmallMemory(t *testing.T) {
	const limit = 64 << 20
	if !isChild("TestSmallMemory") {
		inChild(t, "TestSmallMemory", nil, func(pid int) {
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			mustDo(t, err)
			_, rest, _ := strings.Cut(string(raw), "VmHWM:")
			var kb int
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				t.Fatal(err)
			}
			if kb<<10 > limit {
				t.Errorf("%d kB at the most", kb)
			}
		}, "GOMEMLIMIT=48MiB")
		return
	}
	w := newWatcher(t, Options{})
	large := strings.Repeat("x", 512<<10)
	for i := range 2000 {
		p := newPeer(t)
		mustAdd(t, w, p, map[string]Handler{"a": text("a"), "large": text(large)})
		if i%20 == 0 {
			if a := p.ask("large"); len(a.Data) < len(large) {
				t.Errorf("%d bytes", len(a.Data))
			}
		}
		p.ask("a")
	}
	ready()
}
