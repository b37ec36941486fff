package channel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// TestMain lets the test binary re-enter as one asker in a process of its own.
func TestMain(m *testing.M) {
	if workspace := os.Getenv("OUTERLOOP_TEST_ASKER"); workspace != "" {
		if err := askerProcess(workspace); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const counterFile = "counter"

// answering is a kernel that answers every question with how many it has
// answered, counted after it saw the question. An asker that reads the counter
// before it asks must get a greater number, or its answer is an old one.
type answering struct {
	count  atomic.Int64
	beside string // a directory where the counter stands for other processes, or ""
}

func (a *answering) start(t testing.TB, k *channel.Kernel, verb string) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			if err := a.once(k, verb); err != nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
		}
	}()
	t.Cleanup(func() { close(quit); <-done })
}

func (a *answering) once(k *channel.Kernel, verb string) error {
	stamp, pending, err := k.Pending(verb)
	if err != nil || !pending {
		time.Sleep(100 * time.Microsecond) // two cores, and the askers want one
		return err
	}
	text := strconv.FormatInt(a.count.Add(1), 10)
	if a.beside != "" {
		temp := filepath.Join(a.beside, "next")
		if err := errors.Join(os.WriteFile(temp, []byte(text), 0o666), os.Rename(temp, filepath.Join(a.beside, counterFile))); err != nil {
			return err
		}
	}
	return k.Answer(verb, stamp, []byte(text))
}

// askFresh asks a number of times and fails on an answer from before the question.
func askFresh(ctx context.Context, s *channel.Session, times int, counter func() (int64, error)) error {
	for range times {
		before, err := counter()
		if err != nil {
			return err
		}
		answer, err := s.Ask(ctx, "queue", patience)
		if err != nil {
			return err
		}
		got, err := strconv.ParseInt(string(answer.Data), 10, 64)
		if err != nil {
			return err
		}
		if got <= before {
			return fmt.Errorf("answer %d is from before the question, when %d had been given", got, before)
		}
	}
	return nil
}

func askerProcess(workspace string) error {
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		return err
	}
	defer s.Close()
	return askFresh(context.Background(), s, 5, func() (int64, error) {
		text, err := os.ReadFile(filepath.Join(workspace, counterFile))
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(string(text), 10, 64)
	})
}

// tenAskers ask one verb at once on the channel of k, each several times.
func tenAskers(t *testing.T, k *channel.Kernel, workspace string, times int) {
	var a answering
	a.start(t, k, "queue")
	var group sync.WaitGroup
	for range 10 {
		s := session(t, workspace)
		group.Go(func() {
			if err := askFresh(t.Context(), s, times, func() (int64, error) { return a.count.Load(), nil }); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestTenAskers(t *testing.T) {
	k, _, dir := open(t)
	tenAskers(t, k, filepath.Dir(dir), 20)
}

func TestTenAskingProcesses(t *testing.T) {
	k, _, dir := open(t)
	workspace := filepath.Dir(dir)
	write(t, filepath.Join(workspace, counterFile), "0")
	a := answering{beside: workspace}
	a.start(t, k, "queue")
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "OUTERLOOP_TEST_ASKER="+workspace)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
}

func TestAskWithoutKernel(t *testing.T) {
	k, s, _ := open(t)
	if _, err := s.Ask(t.Context(), "queue", 0); !errors.Is(err, channel.ErrNoAnswer) {
		t.Errorf("got %v", err)
	}
	if _, pending, err := k.Pending("queue"); !pending || err != nil {
		t.Errorf("the question does not stand: %v, %v", pending, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(ctx, "queue", patience); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

// A request that arrives while the kernel answers stays pending.
func TestQuestionWhileAnswering(t *testing.T) {
	k, s, _ := open(t)
	s.Ask(t.Context(), "queue", 0)
	first, _, err := k.Pending("queue")
	if err != nil {
		t.Fatal(err)
	}
	s.Ask(t.Context(), "queue", 0)
	if err := k.Answer("queue", first, []byte("1")); err != nil {
		t.Fatal(err)
	}
	second, pending, err := k.Pending("queue")
	if err != nil || !pending || second <= first {
		t.Fatalf("the second question: %v after %v, pending %v, %v", second, first, pending, err)
	}
	if err := k.Answer("queue", second, []byte("2")); err != nil {
		t.Fatal(err)
	}
	if _, pending, _ := k.Pending("queue"); pending {
		t.Error("pending after its answer")
	}
}

// The marker moves past whatever -done holds, and never backwards.
func TestAskPastDone(t *testing.T) {
	future := float64(time.Now().Unix() + 1e6)
	for name, done := range map[string]string{
		"none": "", "past": "12.5", "garbage": "nan", "future": fmt.Sprint(int64(future)), "repr": "2e9", "negative": "-7.25",
	} {
		t.Run(name, func(t *testing.T) {
			k, s, dir := open(t)
			path := filepath.Join(dir, "queue-done")
			write(t, path, done)
			var last channel.Stamp
			for range 5 {
				if _, err := s.Ask(t.Context(), "queue", 0); !errors.Is(err, channel.ErrNoAnswer) {
					t.Fatalf("an old answer was taken: %v", err)
				}
				stamp, pending, err := k.Pending("queue")
				if err != nil || !pending || stamp <= last {
					t.Fatalf("stamp %v after %v, pending %v, %v", stamp, last, pending, err)
				}
				last = stamp
			}
			answered := channel.ParseStamp([]byte(done))
			if answered > 1e9 && last-answered > 1e-3 {
				t.Errorf("moved %v past done, more than the filesystem's least step", last-answered)
			}
		})
	}
}

// A -done that no mtime can pass is said so, and the marker is not moved back.
func TestAskPastTheEnd(t *testing.T) {
	for _, done := range []string{"1e300", "9223372036854775807", "4611686018427387904"} {
		_, s, dir := open(t)
		write(t, filepath.Join(dir, "queue-done"), done)
		_, err := s.Ask(t.Context(), "queue", patience)
		refused(t, err)
		if _, err := os.Stat(filepath.Join(dir, "queue-request")); err == nil {
			t.Errorf("%s: a marker was left that nobody will answer", done)
		}
	}
}
