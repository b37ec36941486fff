package watcher

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestIdle: a process whose channels nobody asks in does not wake up at all.
// It has a process of its own, of which the scheduler counts the wake-ups.
func TestIdle(t *testing.T) {
	if os.Getenv("WATCHER_TEST_IDLE") != "" {
		w := newWatcher(t, Options{})
		for range 20 {
			p := newPeer(t)
			s := mustAdd(t, w, p, map[string]Handler{"a": text("a"), "b": text("b")})
			trust(t, s)
			if s.busy.Lock(); !s.trusted {
				fmt.Println("polled")
			}
			s.busy.Unlock()
			p.ask("a")
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestIdle$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), "WATCHER_TEST_IDLE=1")
	stdin, err := cmd.StdinPipe()
	mustDo(t, err)
	stdout, err := cmd.StdoutPipe()
	mustDo(t, err)
	mustDo(t, cmd.Start())
	defer func() {
		stdin.Close()
		cmd.Wait()
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	mustDo(t, err)
	if line != "ready\n" {
		t.Logf("the temporary directory is on no filesystem of this machine (%q): it is polled, as it has to be", line)
		return
	}
	within(t, "ten seconds without a wake-up", func() bool {
		before := wakeUps(t, cmd.Process.Pid)
		time.Sleep(10 * time.Second)
		after := wakeUps(t, cmd.Process.Pid)
		return before == after
	})
}

// wakeUps lists how often each thread of a process has gone to sleep.
func wakeUps(t *testing.T, pid int) string {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	mustDo(t, err)
	var all strings.Builder
	for _, task := range tasks {
		raw, _ := os.ReadFile(task) // a thread may have ended
		for line := range strings.Lines(string(raw)) {
			if strings.HasPrefix(line, "voluntary_ctxt_switches") {
				fmt.Fprint(&all, task, line)
			}
		}
	}
	if all.Len() == 0 {
		t.Fatal("no threads in /proc")
	}
	return all.String()
}
