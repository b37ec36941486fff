package channel_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/attack"
)

const ours = "what the kernel wrote"

// target is one file or directory of the channel that the kernel reads or
// writes, and what it does there.
type target struct {
	name string // below the channel
	// act is the kernel's work. What it returns besides an error is what it read.
	act func(*channel.Kernel) (read string, err error)
	// places is where the kernel's text must stand afterwards, when act went well.
	places []string
	// directory: the name is to be a directory, so one that is planted is taken.
	directory bool
	// refusal: a plant makes act fail.
	refusal func(attack.Plant) bool
}

func never(attack.Plant) bool { return false }

func targets() []target {
	writes := func(name string, act func(*channel.Kernel) error) target {
		return target{
			name: name, places: []string{name}, refusal: never,
			act: func(k *channel.Kernel) (string, error) { return "", act(k) },
		}
	}
	report := func(k *channel.Kernel) error { return k.WriteReport("r", []byte(ours)) }
	task := channel.Result{Launch: "l", Task: 0, Artifact: "out/m.json"}
	deliver := func(k *channel.Kernel) error {
		if err := k.Withdraw(task); err != nil {
			return err
		}
		return k.Deliver(task, strings.NewReader(ours))
	}
	within := func(dir, place string, act func(*channel.Kernel) error) target {
		tg := writes(dir, act)
		tg.places, tg.directory = []string{place}, true
		return tg
	}
	return []target{
		{name: "queue-request", refusal: never, act: pendingOnly},
		writes("queue-done", func(k *channel.Kernel) error { return k.Answer("queue", 7, []byte(ours)) }),
		writes("queue.json", func(k *channel.Kernel) error { return k.Answer("queue", 7, []byte(ours)) }),
		{name: channel.CommittedFile, act: consume, refusal: func(attack.Plant) bool { return true }},
		writes(channel.BudgetFile, func(k *channel.Kernel) error { return k.WriteBudget(channel.Budget{Launches: 3}) }),
		writes(channel.SiblingsFile, func(k *channel.Kernel) error {
			return k.WriteSiblings([]channel.Sibling{{Agent: ours}})
		}),
		writes(channel.PromptFile, func(k *channel.Kernel) error { return k.WritePrompt([]byte(ours), nil) }),
		writes(channel.TaskFile, func(k *channel.Kernel) error { return k.WritePrompt(nil, []byte(ours)) }),
		within("reports", "reports/r.md", report),
		writes("reports/r.md", report),
		within("results", "results/l/0/out/m.json", deliver),
		within("results/l", "results/l/0/out/m.json", deliver),
		within("results/l/0", "results/l/0/out/m.json", deliver),
		within("results/l/0/out", "results/l/0/out/m.json", deliver),
		writes("results/l/0/out/m.json", deliver),
	}
}

// pendingOnly looks for a question, and never answers one.
func pendingOnly(k *channel.Kernel) (string, error) {
	_, _, err := k.Pending("queue")
	return "", err
}

// errPromise is an error that no plant may bring about.
var errPromise = errors.New("the kernel has not done what it promises")

// consume does what a kernel does when a leg has ended. The request is gone
// afterwards, whatever it was.
func consume(k *channel.Kernel) (string, error) {
	raw, err := k.ReadCommitted(channel.MaxSleepBytes)
	if err == nil {
		_, err = channel.ParseRequest(raw)
	}
	if dropped := k.DropCommitted(); dropped != nil {
		return "", fmt.Errorf("%w: not consumed: %w", errPromise, dropped)
	}
	if _, again := k.ReadCommitted(channel.MaxSleepBytes); !errors.Is(again, channel.ErrNothingCommitted) {
		return "", fmt.Errorf("%w: still there: %v", errPromise, again)
	}
	var refused *channel.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return "", fmt.Errorf("%w: no refusal: %w", errPromise, err)
	}
	return string(raw), err
}

// TestPlants has one row for each plant in the place of each file: a bounded
// answer, nothing outside read or changed, no descriptor left open.
func TestPlants(t *testing.T) {
	for _, tg := range targets() {
		for _, p := range attack.Plants() {
			t.Run(tg.name+"/"+p.Name, func(t *testing.T) { plant(t, tg, p) })
		}
	}
}

func plant(t *testing.T, tg target, p attack.Plant) {
	k, _, dir := open(t)
	canary := attack.NewCanary(t)
	p.Put(t, dir, tg.name, canary)
	before := attack.Descriptors(t, dir)

	var read string
	var err error
	grew := bounded(t, func() { read, err = tg.act(k) })

	if failed, want := err != nil, tg.refusal(p); failed != want {
		t.Errorf("got error %v, want one: %v", err, want)
	}
	if errors.Is(err, errPromise) {
		t.Error(err)
	}
	if strings.Contains(read, attack.SecretText) {
		t.Errorf("the kernel read the secret")
	}
	if err == nil {
		for _, place := range tg.places {
			checkOurs(t, dir, place)
		}
	}
	checkNoTemporary(t, dir)
	canary.Check(t)
	if after := attack.Descriptors(t, dir); after != before {
		t.Errorf("%d descriptors of the channel before, %d after", before, after)
	}
	if grew > 32<<20 {
		t.Errorf("%d bytes were allocated", grew)
	}
}

// bounded runs do and returns how many bytes were allocated meanwhile. What
// blocks is shown with the stacks of all goroutines.
func bounded(t *testing.T, do func()) (allocated uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	timer := time.AfterFunc(patience, func() { panic("the kernel is blocked in " + t.Name()) })
	do()
	timer.Stop()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// checkOurs looks at every part of the way: real directories, and at its end a
// file of its own that the kernel has written.
func checkOurs(t *testing.T, dir, place string) {
	t.Helper()
	path := dir
	for part := range strings.SplitSeq(place, "/") {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			t.Errorf("%s is no directory (%v)", path, err)
		}
		path = filepath.Join(path, part)
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		t.Errorf("%s is %v (%v), want a file of its own", path, info, err)
		return
	}
	text, err := os.ReadFile(path)
	want := map[string]string{
		"queue-done": "7.0", channel.BudgetFile: `"launches_remaining":3`,
	}[place]
	if want == "" {
		want = ours
	}
	if err != nil || !strings.Contains(string(text), want) || len(text) > 1000 {
		t.Errorf("%s holds %.80q (%v)", path, text, err)
	}
}

// checkNoTemporary fails where a publish that went wrong has left its file.
func checkNoTemporary(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), ".tmp-") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A done marker that is spoiled counts as none: the question is answered, and
// the marker replaced.
func TestSpoiledDone(t *testing.T) {
	for _, p := range attack.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			k, s, dir := open(t)
			canary := attack.NewCanary(t)
			s.Ask(t.Context(), "queue", 0)
			p.Put(t, dir, "queue-done", canary)
			bounded(t, func() {
				stamp, pending, err := k.Pending("queue")
				if !pending || err != nil {
					// Only the number that a growing file begins with is one.
					t.Fatalf("pending %v, %v", pending, err)
				}
				if err := k.Answer("queue", stamp, []byte("{}")); err != nil {
					t.Fatal(err)
				}
				if _, pending, err := k.Pending("queue"); pending || err != nil {
					t.Errorf("after the answer: pending %v, %v", pending, err)
				}
			})
			canary.Check(t)
		})
	}
}

// The session's half is not to hang either, and a good marker that becomes a
// FIFO or device while somebody holds it open is no marker.
func TestPlantedMarkerOfTheAsker(t *testing.T) {
	for _, p := range attack.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			_, s, dir := open(t)
			canary := attack.NewCanary(t)
			p.Put(t, dir, "queue-request", canary)
			if strings.HasPrefix(p.Name, "hard link") {
				return // it is the session that touches what it has linked
			}
			bounded(t, func() {
				if _, err := s.Ask(t.Context(), "queue", 0); err == nil {
					t.Error("an answer without a kernel")
				}
			})
			canary.Check(t)
		})
	}
}

// The channel itself: a link, a file, nothing, another directory.
func TestPlantedChannel(t *testing.T) {
	for _, p := range attack.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			k, _, dir := open(t)
			workspace := filepath.Dir(dir)
			canary := attack.NewCanary(t)
			if err := os.Rename(dir, filepath.Join(workspace, "away")); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Refresh(); !errors.Is(err, channel.ErrNoChannel) {
				t.Errorf("refresh without a channel: %v", err)
			}
			p.Put(t, workspace, channel.DirName, canary)
			before := attack.Descriptors(t, workspace)
			bounded(t, func() {
				replaced, err := k.Refresh()
				if p.Dir && (!replaced || err != nil) || !p.Dir && !errors.Is(err, channel.ErrNoChannel) {
					t.Errorf("refresh: %v, %v", replaced, err)
				}
				opened, err := channel.OpenKernel(workspace)
				if p.Dir != (err == nil) || !p.Dir && !errors.Is(err, channel.ErrNoChannel) {
					t.Errorf("open: %v", err)
				}
				if err == nil {
					opened.Close()
				}
				// The old directory is still held, and writing there harms nobody.
				if err := k.Answer("queue", 1, []byte(ours)); err != nil {
					t.Errorf("answer: %v", err)
				}
				made, err := channel.CreateKernel(workspace)
				if err != nil {
					t.Fatalf("create: %v", err)
				}
				defer made.Close()
				if err := made.Answer("queue", 7, []byte(ours)); err != nil {
					t.Errorf("answer in the new one: %v", err)
				}
			})
			checkOurs(t, dir, "queue.json")
			canary.Check(t)
			if after := attack.Descriptors(t, workspace); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// A million entries cost the kernel what none cost: it never lists the channel.
func TestManyEntries(t *testing.T) {
	k, s, dir := open(t)
	for i := range 10 * attack.Rounds(t, 2_000) {
		attack.Tree(t, dir, fmt.Sprintf("link %0200d x", i))
	}
	bounded(t, func() {
		s.Ask(t.Context(), "queue", 0)
		stamp, pending, err := k.Pending("queue")
		if !pending || err != nil {
			t.Fatal(pending, err)
		}
		if err := errors.Join(k.Answer("queue", stamp, nil), k.DropCommitted()); err != nil {
			t.Error(err)
		}
	})
}

// Names at the end of what a filesystem takes are an error or a file, no more.
func TestLongNames(t *testing.T) {
	k, _, dir := open(t)
	for size, ok := range map[int]bool{255: true, 256: false, 500: false} {
		name := strings.Repeat("n", size)
		r := channel.Result{Launch: "l", Task: -1, Artifact: "d/" + name}
		if err := k.Deliver(r, strings.NewReader(ours)); ok != (err == nil) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err := k.Withdraw(r); ok != (err == nil) {
			t.Errorf("withdrawing %d bytes: %v", size, err)
		}
	}
	if err := k.WriteReport(strings.Repeat("r", 300), nil); err == nil {
		t.Error("a report with a name of 303 bytes")
	}
	for _, name := range []string{"", ".", "..", ".hidden", "../x", "a/b", "a\x00"} {
		if err := k.WriteReport(name, nil); err == nil {
			t.Errorf("a report named %q", name)
		}
	}
	deep := strings.TrimSuffix(strings.Repeat("d/", 250), "/")
	r := channel.Result{Launch: "l", Task: 15, Artifact: deep}
	if err := k.Deliver(r, strings.NewReader(ours)); err != nil {
		t.Error(err)
	}
	checkOurs(t, dir, r.Path())
}

// An artifact at the bound is delivered whole, one byte more not at all.
func TestDeliverBound(t *testing.T) {
	k, _, dir := open(t)
	for size, ok := range map[int]bool{channel.MaxArtifactBytes: true, channel.MaxArtifactBytes + 1: false} {
		r := channel.Result{Launch: "l", Task: -1, Artifact: fmt.Sprint("a", size)}
		err := k.Deliver(r, bytes.NewReader(make([]byte, size)))
		info, statErr := os.Stat(filepath.Join(dir, r.Path()))
		if ok && (err != nil || statErr != nil || info.Size() != int64(size)) || !ok && (err == nil || statErr == nil) {
			t.Errorf("%d bytes: %v, %v", size, err, statErr)
		}
	}
	broken := errors.New("broken")
	r := channel.Result{Launch: "l", Task: -1, Artifact: "half"}
	if err := k.Deliver(r, &brokenReader{err: broken}); !errors.Is(err, broken) {
		t.Errorf("a source that breaks off: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, r.Path())); err == nil {
		t.Error("half an artifact was published")
	}
	checkNoTemporary(t, dir)
}

type brokenReader struct{ err error }

func (r *brokenReader) Read(p []byte) (int, error) {
	if len(p) > 10 {
		return 10, r.err
	}
	return 0, r.err
}

// A session may take the kernel's permission away, or hold a lease that would
// make an ordinary open wait.
func TestUnreadableRequest(t *testing.T) {
	k, _, dir := open(t)
	path := filepath.Join(dir, channel.CommittedFile)
	write(t, path, `{"type":"sleep"}`)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		// The thread that gives up root's override ends with this goroutine.
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		_, err := k.ReadCommitted(channel.MaxSleepBytes)
		done <- err
	}()
	refused(t, <-done)
}

func TestLeasedMarker(t *testing.T) {
	k, s, dir := open(t)
	s.Ask(t.Context(), "queue", 0)
	path := filepath.Join(dir, "queue-done")
	write(t, path, "5")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const setLease, writeLease = 1024, syscall.F_WRLCK
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, writeLease); errno != 0 {
		t.Skipf("this filesystem has no leases: %v", errno)
	}
	bounded(t, func() {
		stamp, pending, err := k.Pending("queue")
		if !pending || err != nil {
			t.Fatal(pending, err)
		}
		if err := k.Answer("queue", stamp, nil); err != nil {
			t.Error(err)
		}
	})
}
