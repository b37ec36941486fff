package watcher

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/attack"
)

// flood starts a process that rewrites eight files of the channel in a tight
// loop, markers among them, until the test is over.
func flood(t testing.TB, p *peer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFlooder$")
	cmd.Env = append(os.Environ(), "WATCHER_TEST_FLOOD="+p.path("")+"/")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, cmd.Start())
	t.Cleanup(func() {
		stop.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// TestFlooder is the process that flood starts, and on its own does nothing.
func TestFlooder(t *testing.T) {
	dir := os.Getenv("WATCHER_TEST_FLOOD")
	if dir == "" {
		return
	}
	var files []string
	for i := range 6 {
		files = append(files, dir+"noise-"+strconv.Itoa(i))
	}
	files = append(files, dir+"a-request", dir+"b-request")
	for _, f := range files {
		mustDo(t, touch(f, time.Now()))
	}
	fmt.Println("ready")
	gone := make(chan struct{})
	go func() { // the test's end closes standard input, whatever became of it
		os.Stdin.Read(make([]byte, 1))
		close(gone)
	}()
	at := time.Now()
	for {
		select {
		case <-gone:
			return
		default:
		}
		at = at.Add(time.Microsecond)
		tv := syscall.NsecToTimeval(at.UnixNano())
		for _, f := range files {
			syscall.Utimes(f, []syscall.Timeval{tv, tv})
		}
	}
}

// TestFlood: a session that floods loses its watch, its neighbor does not
// notice, and it is answered still.
func TestFlood(t *testing.T) {
	w := newWatcher(t, Options{})
	loud, quiet := newPeer(t), newPeer(t)
	s := mustAdd(t, w, loud, map[string]Handler{"a": text("a"), "b": text("b"), "c": text("c")})
	neighbor := mustAdd(t, w, quiet, map[string]Handler{"a": text("a")})
	trust(t, neighbor)
	flood(t, loud)
	within(t, "the flood is noticed", func() bool { return s.paced.Load() })
	for range attack.Share(t, 100, 10) {
		if a := quiet.ask("a"); string(a.Data) != "\"a\"\n" {
			t.Errorf("%q", a.Data)
		}
	}
	if neighbor.paced.Load() {
		t.Error("the quiet channel counts as flooding")
	}
	loud.ask("c")
	within(t, "the flooded verbs are answered", func() bool {
		_, err := os.Stat(loud.path("b-done"))
		return err == nil
	})
}

// BenchmarkFlood measures what a flood costs the kernel and its neighbors.
func BenchmarkFlood(b *testing.B) {
	w := newWatcher(b, Options{})
	loud, quiet := newPeer(b), newPeer(b)
	mustAdd(b, w, loud, map[string]Handler{"a": text("a"), "b": text("b")})
	trust(b, mustAdd(b, w, quiet, map[string]Handler{"a": text("a")}))
	flood(b, loud)
	cpu := func() time.Duration {
		var u syscall.Rusage
		mustDo(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var waits []time.Duration
	began, used := time.Now(), cpu()
	for b.Loop() {
		asked := time.Now()
		quiet.ask("a")
		waits = append(waits, time.Since(asked))
		time.Sleep(20 * time.Millisecond)
	}
	b.ReportMetric(100*float64(cpu()-used)/float64(time.Since(began)), "core-%")
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
}
