package channel_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/attack"
)

// calls are all that can be done with a kernel's half, each with names of its
// own for worker i.
func calls(k *channel.Kernel, i int) map[string]func() error {
	verb := fmt.Sprint("v", i)
	r := channel.Result{Launch: verb, Task: i, Artifact: "a/b"}
	return map[string]func() error{
		"Pending": func() error { _, _, err := k.Pending(verb); return err },
		"Answer":  func() error { return k.Answer(verb, 1, []byte("{}")) },
		"ReadCommitted": func() error {
			_, err := k.ReadCommitted(channel.MaxSleepBytes)
			if errors.Is(err, channel.ErrNothingCommitted) {
				return nil
			}
			return err
		},
		"DropCommitted": k.DropCommitted,
		"WriteBudget":   func() error { return k.WriteBudget(channel.Budget{}) },
		"WriteSiblings": func() error { return k.WriteSiblings(nil) },
		"WritePrompt":   func() error { return k.WritePrompt([]byte("p"), []byte("t")) },
		"WriteReport":   func() error { return k.WriteReport(verb, []byte("# r")) },
		"Deliver":       func() error { return k.Deliver(r, strings.NewReader("x")) },
		"Withdraw":      func() error { return k.Withdraw(r) },
		"Refresh":       func() error { _, err := k.Refresh(); return err },
	}
}

func TestKernelTogether(t *testing.T) {
	k, _, dir := open(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 10 {
				for name, call := range calls(k, i) {
					if err := call(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		})
	}
	group.Wait()
	checkNoTemporary(t, dir)
}

// Close comes while calls run: each ends well or says that it is closed, no
// temporary file stays behind, and no descriptor.
func TestCloseWhileCallsRun(t *testing.T) {
	for range min(attack.Rounds(t, 30), 1000) {
		k, s, dir := open(t)
		s.Close()
		var group sync.WaitGroup
		started := make(chan struct{}, 8)
		for i := range 8 {
			group.Go(func() {
				started <- struct{}{}
				for {
					for name, call := range calls(k, i) {
						if err := call(); errors.Is(err, fs.ErrClosed) {
							return
						} else if err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
					}
				}
			})
		}
		for range cap(started) {
			<-started
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
		checkNoTemporary(t, dir)
		if n := attack.Descriptors(t, filepath.Dir(dir)); n != 0 {
			t.Fatalf("%d descriptors are left open", n)
		}
		for name, call := range calls(k, 0) {
			if err := call(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if err := k.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	}
}

// A Refresh that is about to put a new directory in the held one's place must
// not outlive the Close that it overlaps.
func TestCloseDuringRefresh(t *testing.T) {
	for range attack.Rounds(t, 200) {
		k, s, dir := open(t)
		s.Close()
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		group.Go(func() { k.Refresh() })
		group.Go(func() { k.Close() })
		group.Wait()
		if n := attack.Descriptors(t, filepath.Dir(dir)); n != 0 {
			t.Fatalf("%d descriptors are left open", n)
		}
		if err := k.Answer("queue", 1, nil); !errors.Is(err, fs.ErrClosed) {
			t.Fatalf("an answer after Close: %v", err)
		}
	}
}

// The path for a watch leads to the directory that is held, wherever it went.
func TestWatchPath(t *testing.T) {
	k, _, dir := open(t)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	held, err := os.Stat(k.WatchPath() + "/.")
	if err != nil {
		t.Fatal(err)
	}
	away, err := os.Stat(dir + ".away")
	if err != nil || !os.SameFile(held, away) {
		t.Errorf("the watch would be on something else (%v)", err)
	}
}
