package watcher

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// starved runs a test of a program of this package's tests by name, through sh
// after the commands of setup, and fails with what it says.
func starved(t *testing.T, program, test, setup string, wrap ...string) {
	t.Helper()
	args := append(wrap, "sh", "-c", setup+` && exec "$@"`, "sh", program, "-test.run=^"+test+"$", "-test.v")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "WATCHER_TEST_STARVED="+test)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

// asStarved says whether it is starved that calls this test.
func asStarved(t *testing.T) bool { return os.Getenv("WATCHER_TEST_STARVED") == t.Name() }

// TestWatchLimit: with eight file watches for twenty channels every question is
// answered, in those that got a watch by events, in the others by polling.
func TestWatchLimit(t *testing.T) {
	limit := "echo 8 >/proc/sys/user/max_inotify_watches"
	if out, err := exec.Command("unshare", "-Ur", "sh", "-c", limit).CombinedOutput(); err != nil {
		t.Skipf("a user namespace with a limit of its own: %v, %s", err, out)
	}
	starved(t, os.Args[0], "TestEightWatches", limit, "unshare", "-Ur")
}

func TestEightWatches(t *testing.T) {
	if !asStarved(t) {
		return
	}
	var log logBuffer
	w := newWatcher(t, Options{Poll: 50 * time.Millisecond, Log: log.logger()})
	peers, watches := make([]*peer, 20), make([]*Watch, 20)
	for i := range peers {
		peers[i] = newPeer(t)
		watches[i] = mustAdd(t, w, peers[i], map[string]Handler{"who": text(fmt.Sprint(i))})
	}
	ask := func(i int) {
		if got, want := string(peers[i].ask("who").Data), fmt.Sprintf("%q\n", fmt.Sprint(i)); got != want {
			t.Errorf("channel %d: %q, want %q", i, got, want)
		}
	}
	var asking sync.WaitGroup
	for i := range peers {
		asking.Go(func() { ask(i) })
	}
	asking.Wait()
	watched := func() (n int) {
		for _, s := range watches {
			s.busy.Lock()
			if s.path != "" && s.probeBy.IsZero() {
				n++
			}
			s.busy.Unlock()
		}
		return n
	}
	// The asker's own watch may take one of the eight for a moment.
	within(t, "the watches that there are do their work", func() bool { return watched() >= 7 })
	if n := watched(); n > 8 {
		t.Errorf("%d channels do without polling", n)
	}
	if !strings.Contains(log.String(), "no file events are to be had") {
		t.Errorf("the log does not say that channels are polled: %s", log.String())
	}
}

// TestLittleMemory: a hundred channels that ask at the same time, answers as long
// as a queue's, questions left by the hundred and files as large as a session
// cares to make are no more than 64 MB can hold.
func TestLittleMemory(t *testing.T) {
	// Without the race detector and the C library's threads, as kernels are built:
	// both take more than this for themselves.
	program := filepath.Join(t.TempDir(), "watcher.test")
	build := exec.Command("go", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The runtime takes the heap from the system in arenas of 64 MB, and this is
	// one of them, what it keeps beside, and too little for a second.
	starved(t, program, "TestIn64MB", "ulimit -d 122880")
}

func TestIn64MB(t *testing.T) {
	if !asStarved(t) {
		return
	}
	huge := hugeAnswer(t)
	w := newWatcher(t, Options{})
	long := strings.Repeat("x", 256<<10)
	const channels = 100
	peers := make([]*peer, channels)
	for i := range peers {
		peers[i] = newPeer(t)
		mustAdd(t, w, peers[i], map[string]Handler{
			"long": text(long),
			"huge": func(context.Context) (any, error) { return huge, nil },
		})
		// What is no question of this watch, and sparse: 1 TB each.
		mustDo(t, os.WriteFile(peers[i].path("other-request"), nil, 0o666),
			os.Truncate(peers[i].path("other-request"), 1<<40))
	}
	done := make(chan string)
	for i := range peers {
		go func() {
			for range 5 {
				if n := len(peers[i].ask("long").Data); n != len(long)+3 {
					done <- fmt.Sprintf("channel %d: an answer of %d bytes", i, n)
					return
				}
			}
			done <- ""
		}()
		if i%8 == 7 { // askers live in the same 64 MB
			for range 8 {
				if failed := <-done; failed != "" {
					t.Error(failed)
				}
			}
		}
	}
	for range channels % 8 {
		if failed := <-done; failed != "" {
			t.Error(failed)
		}
	}
	if got := errorOf(t, peers[0].ask("huge")); !strings.Contains(got, "the answer is 104857600 bytes, at most") {
		t.Errorf("100 MB: %q", got)
	}
	if got := string(peers[1].ask("long").Data); len(got) != len(long)+3 {
		t.Errorf("after 100 MB: an answer of %d bytes", len(got))
	}
}

// hugeAnswer is an answer of 100 MB that takes no memory: a sparse file, mapped.
func hugeAnswer(t *testing.T) json.RawMessage {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	mustDo(t, err)
	defer f.Close()
	mustDo(t, f.Truncate(100<<20))
	raw, err := syscall.Mmap(int(f.Fd()), 0, 100<<20, syscall.PROT_READ, syscall.MAP_SHARED)
	mustDo(t, err)
	t.Cleanup(func() { syscall.Munmap(raw) })
	return raw
}
