package channeltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/channel/channeltest"
)

// mutant is a kernel with one fault, and the rule that has to find it.
type mutant struct {
	rule, fault string
	serve       func(k *channel.Kernel, dir string)
	deaf        bool // does not end when it is told to
}

const verb = "history"

// file is one of the verb's files.
func file(dir, suffix string) string { return filepath.Join(dir, verb+suffix) }

// answerWith answers a pending question with the stamp that change makes of it.
func answerWith(change func(channel.Stamp) string) func(*channel.Kernel, string) {
	return func(k *channel.Kernel, dir string) {
		if stamp, pending, _ := k.Pending(verb); pending {
			replace(file(dir, ".json"), clock())
			replace(file(dir, "-done"), []byte(change(stamp)))
		}
	}
}

func replace(path string, content []byte) {
	os.WriteFile(path+".new", content, 0o666)
	os.Rename(path+".new", path)
}

func mutants() []mutant {
	return []mutant{
		{rule: "K1", fault: "sees only what is asked after its start", serve: func() func(*channel.Kernel, string) {
			var begun time.Time
			return func(k *channel.Kernel, dir string) {
				if begun.IsZero() {
					begun = time.Now()
				}
				if stamp, pending, _ := k.Pending(verb); pending && stamp > channel.StampOf(begun) {
					k.Answer(verb, stamp, clock())
				}
			}
		}()},
		{rule: "K2", fault: "writes the marker first", serve: func(k *channel.Kernel, dir string) {
			if stamp, pending, _ := k.Pending(verb); pending {
				replace(file(dir, "-done"), []byte(stamp.String()))
				time.Sleep(5 * time.Millisecond)
				replace(file(dir, ".json"), clock())
			}
		}},
		{rule: "K3", fault: "rounds to microseconds", serve: answerWith(func(s channel.Stamp) string { return strconv.FormatFloat(float64(s)+5e-7, 'f', 6, 64) })},
		{rule: "K3", fault: "says when it has answered", serve: answerWith(func(channel.Stamp) string { return channel.StampOf(time.Now()).String() })},
		{rule: "K4", fault: "reads the stamp after it had the answer", serve: func(k *channel.Kernel, _ string) {
			answer := clock()
			time.Sleep(5 * time.Millisecond)
			if stamp, pending, _ := k.Pending(verb); pending {
				k.Answer(verb, stamp, answer)
			}
		}},
		{rule: "K5", fault: "answers an equal stamp again", serve: func(k *channel.Kernel, dir string) {
			if info, err := os.Lstat(file(dir, "-request")); err == nil {
				done, _ := os.ReadFile(file(dir, "-done"))
				if stamp := channel.StampOf(info.ModTime()); stamp >= channel.ParseStamp(done) {
					k.Answer(verb, stamp, clock())
				}
			}
		}},
		{rule: "K6", fault: "counts in nanoseconds", serve: answerWith(func(s channel.Stamp) string {
			return channel.Stamp(float64(int64(float64(s)*1e9)) / 1e9).String()
		})},
		{rule: "K7", fault: "believes in infinity", serve: func(k *channel.Kernel, dir string) {
			done, _ := os.ReadFile(file(dir, "-done"))
			if f, _ := strconv.ParseFloat(string(done), 64); f < 1e300 {
				answerWith(channel.Stamp.String)(k, dir)
			}
		}},
		{rule: "K9", fault: "writes in place", serve: func(k *channel.Kernel, dir string) {
			if stamp, pending, _ := k.Pending(verb); pending {
				os.WriteFile(file(dir, ".json"), clock(), 0o666)
				os.WriteFile(file(dir, "-done"), []byte(stamp.String()), 0o666)
			}
		}},
		{rule: "K10", fault: "leaves its temporary files", serve: func(k *channel.Kernel, dir string) {
			if stamp, pending, _ := k.Pending(verb); pending {
				os.WriteFile(fmt.Sprint(dir, "/temp-", stamp), nil, 0o666)
				k.Answer(verb, stamp, clock())
			}
		}},
		{rule: "K11", fault: "knows one name of the channel", serve: func(k *channel.Kernel, dir string) {
			if _, err := os.Lstat(dir); err == nil {
				answerWith(channel.Stamp.String)(k, dir)
			}
		}},
		{rule: "K12", fault: "goes on after its end", serve: answerWith(channel.Stamp.String), deaf: true},
		{rule: "H1", fault: "follows links when it writes", serve: func(k *channel.Kernel, dir string) {
			if stamp, pending, _ := k.Pending(verb); pending {
				os.WriteFile(file(dir, ".json"), clock(), 0o666)
				k.Answer(verb, stamp, clock())
			}
		}},
		{rule: "H1", fault: "follows links when it reads", serve: func(k *channel.Kernel, dir string) {
			// A little of it: with all of a sparse file this process would be gone.
			if f, err := os.Open(file(dir, ".json")); err == nil {
				f.Read(make([]byte, 100))
				f.Close()
			}
			answerWith(channel.Stamp.String)(k, dir)
		}},
		{rule: "H5", fault: "goes by the channel's path", serve: answerWith(channel.Stamp.String)},
	}
}

// start runs the mutant until stop, which does not wait for one that hangs.
func (m mutant) start(t testing.TB, workspace string) (stop func()) {
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer k.Close()
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Millisecond):
				m.serve(k, filepath.Join(workspace, channel.DirName))
			}
		}
	}()
	if m.deaf {
		return func() {}
	}
	return func() {
		close(quit)
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
	}
}

const mutantVariable = "CHANNELTEST_MUTANT"

// TestMutants: a suite that every kernel passes proves nothing. Each mutant runs
// in a process of its own, in which the rule has to fail.
func TestMutants(t *testing.T) {
	if text := os.Getenv(mutantVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		channeltest.Run(t, channeltest.Config{
			Start: mutants()[n].start, Verbs: []channeltest.Verb{{Name: verb, Live: true}}, Wait: time.Second,
		})
		return
	}
	for n, m := range mutants() {
		t.Run(m.rule+" "+m.fault, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMutants$/^"+m.rule+"_", "-test.timeout=120s")
			cmd.Env = append(os.Environ(), fmt.Sprint(mutantVariable, "=", n))
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestMutants/"+m.rule+"_") {
				t.Errorf("the rule did not find it (%v):\n%.2000s", err, out)
			}
		})
	}
}
