package channeltest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// workspace makes one with a channel.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	k, err := channel.CreateKernel(dir)
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	return dir
}

// programs builds the syscall programs as an image has them.
func programs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=",
		"-o", dir+"/", "../../cmd/syscall-...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	return dir
}

// output runs a command that must succeed.
func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return out
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %.400s", err, raw)
	}
}

// TestPeerAsksWatcher: the polling asker gets its answers from the watcher, also
// from two sides at once and again at once.
func TestPeerAsksWatcher(t *testing.T) {
	w := watcher.New(watcher.Options{})
	defer w.Close()
	dir := workspace(t)
	k, err := channel.OpenKernel(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var mu sync.Mutex
	turn := 0
	watch, err := w.Add(k, map[string]watcher.Handler{"count": func(context.Context) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		turn++
		return map[string]any{"turn": turn, "text": "größer < ₂ 😀"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()

	last := 0
	for range 3 {
		var got struct {
			Turn int
			Text string
		}
		decode(t, output(t, python(t, "ask", dir, "count", "--step", "0.005")), &got)
		if got.Turn <= last || got.Text != "größer < ₂ 😀" {
			t.Errorf("got %+v after turn %d", got, last)
		}
		last = got.Turn
	}
	var both sync.WaitGroup
	for range 2 {
		cmd := python(t, "ask", dir, "count", "--step", "0.005")
		both.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("one of two askers: %v\n%s", err, out)
			}
		})
	}
	both.Wait()
	// At the peer's own pace, once.
	output(t, python(t, "ask", dir, "count"))
}

// TestProgramsAskPeer: the programs get and show the answers of the polling
// kernel, fast and at its own pace.
func TestProgramsAskPeer(t *testing.T) {
	bin := programs(t)
	for _, step := range []string{"0.005", "2"} {
		t.Run(step, func(t *testing.T) {
			dir := workspace(t)
			defer peerKernel(step, "queue", "history")(t, dir)()
			call := func(verb string, args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "syscall-"+verb), args...)
				cmd.Env = []string{"OUTERLOOP_WORKSPACE=" + dir}
				return cmd
			}
			var queue channel.QueueAnswer
			decode(t, output(t, call("queue", "--json")), &queue)
			if len(queue.Jobs) != 1 || queue.Jobs[0].Why != "größer?" || queue.Jobs[0].Concurrency != 2 || queue.Lane.Nodes["idle"] != 3 {
				t.Errorf("queue: %+v", queue)
			}
			var history channel.HistoryAnswer
			decode(t, output(t, call("history", "--json")), &history)
			if len(history.History) != 1 || history.History[0].Jobs[0].ExitCode != nil || history.History[0].Jobs[0].EndedAt != 1700000000.25 {
				t.Errorf("history: %+v", history)
			}
			if step == "2" {
				return
			}
			for verb, want := range map[string]string{"queue": "größer?", "history": "TIMEOUT"} {
				if text := output(t, call(verb)); !strings.Contains(string(text), want) {
					t.Errorf("syscall-%s says nothing of %q:\n%s", verb, want, text)
				}
			}
		})
	}
}

// TestStagingTogether: one session calls programs of both kinds, and both
// kernels read the same out of what comes of it.
func TestStagingTogether(t *testing.T) {
	bin := programs(t)
	dir := workspace(t)
	call := func(verb string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "syscall-"+verb), args...)
		cmd.Env = []string{"OUTERLOOP_WORKSPACE=" + dir}
		cmd.Dir = dir
		return cmd
	}
	peer := func(act string) *exec.Cmd { return python(t, act, dir) }
	report := filepath.Join(dir, "report.md")
	if err := os.WriteFile(report, []byte("# Größer\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	// What a peer stages leaves out what is empty.
	stage := func() {
		cmd := peer("stage")
		cmd.Stdin = strings.NewReader(`{"launches":[{"name":"theirs","command":"echo 'ä' > x","array":3}],"note":"vor\ud83d\ude00"}`)
		output(t, cmd)
		output(t, call("launch", "--name", "ours", "--artifact", "out/m.json", "--why", "größer?", "--", "sh", "-c", `echo "a b" && exit`))
		output(t, call("submit", "--report", report, "--minutes", "7"))
	}
	want := channel.Sleep{
		Launches: []channel.Launch{
			{Name: "theirs", Command: "echo 'ä' > x", Minutes: 30, Array: 3, Artifacts: []string{}},
			{Name: "ours", Command: `sh -c 'echo "a b" && exit'`, Minutes: 30, Array: 1, Artifacts: []string{"out/m.json"}, Why: "größer?"},
		},
		Note: "vor😀", Submit: true, EvalMinutes: 7, Report: "# Größer",
	}
	for name, commit := range map[string]func(){
		"our sleep":    func() { output(t, call("sleep")) },
		"their commit": func() { output(t, peer("commit")) },
	} {
		for reader, read := range map[string]func() []byte{
			"our kernel": func() []byte {
				raw, err := consume(t, dir)
				if err != nil {
					t.Errorf("%s, our kernel: %v", name, err)
				}
				return raw
			},
			"their kernel": func() []byte { return output(t, peer("consume")) },
		} {
			stage()
			commit()
			got, err := channel.ParseRequest(read())
			if err != nil {
				t.Errorf("%s, %s: %v", name, reader, err)
			} else if diff := cmp.Diff(want, *got.Sleep); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, reader, diff)
			}
		}
	}
}

// TestSameMeaning has thousands of requests read by both sides: what we write,
// and what Python's json.dumps makes of it, mean one and the same.
func TestSameMeaning(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	var lines, wants bytes.Buffer
	const count = 2000
	for range count {
		r, err := anySleep(random).Encode()
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(string(r))
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		wants.Write(r) // ends its own line
	}
	cmd := python(t, "check")
	cmd.Stdin = &lines
	theirs := bufio.NewScanner(bytes.NewReader(output(t, cmd)))
	ours := bufio.NewScanner(&wants)
	theirs.Buffer(nil, 1<<20)
	ours.Buffer(nil, 1<<20)
	n := 0
	for ; ours.Scan() && theirs.Scan(); n++ {
		r, err := channel.ParseRequest(theirs.Bytes())
		if err != nil {
			t.Fatalf("%v\nours   %.400s\ntheirs %.400s", err, ours.Bytes(), theirs.Bytes())
		}
		if again, _ := r.Encode(); string(bytes.TrimSpace(again)) != ours.Text() {
			t.Fatalf("ours   %.400s\ntheirs %.400s", ours.Bytes(), again)
		}
	}
	if n != count {
		t.Errorf("%d of %d requests came back", n, count)
	}
}

// anySleep is a request within the bounds, made as a verb makes one.
func anySleep(random *rand.Rand) channel.Request {
	text := func(most int) string {
		const some = "a Z-0/'\"\\<>&\n\t\x7f\u00e9\u2028\u20ac\ufffd\U0001f600"
		runes := []rune(some)
		s := make([]rune, random.IntN(most))
		for i := range s {
			s[i] = runes[random.IntN(len(runes))]
		}
		return string(s)
	}
	s := channel.Sleep{Note: text(30), Submit: random.IntN(2) == 0}
	for i := range random.IntN(channel.MaxLaunches + 1) {
		array := 1 + random.IntN(20)
		s.Launches = append(s.Launches, channel.Launch{
			Name: fmt.Sprintf("n-%d", i), Command: "x" + text(40), Why: text(20),
			Minutes: 1 + random.IntN(300), Array: array, Concurrency: random.IntN(array + 3),
			Artifacts: []string{"out/é.json"}[:random.IntN(2)],
		})
	}
	if s.Submit {
		s.Report = "r" + text(50)
		s.EvalMinutes = random.IntN(2000)
	}
	checked, err := channel.CheckSleep(s)
	if err != nil {
		panic(err)
	}
	return channel.Request{Sleep: &checked}
}
