package channel_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/attack"
)

// TestAttacker is the process of the races, and on its own does nothing.
func TestAttacker(t *testing.T) { attack.Serve(t) }

// race runs round again and again, at least so often and until each of the
// outcomes has been seen. The attacker is running.
func race(t *testing.T, rounds int, round func() string, outcomes ...string) {
	t.Helper()
	var seen attack.Outcomes
	deadline := time.Now().Add(patience)
	for n := rounds; n > 0 || !seen.Seen(outcomes...); n-- {
		if n < 0 && time.Now().After(deadline) {
			break // Require says what was never seen
		}
		seen.Add(round())
	}
	seen.Require(t, outcomes...)
}

// The committed request is exchanged for each kind of plant while it is read.
func TestRaceCommitted(t *testing.T) {
	const request = `{"type":"sleep"}`
	plants := []string{"link other SECRET", "hard other SECRET", "fifo other", "socket other", "dir other"}
	for _, plant := range plants {
		t.Run(plant, func(t *testing.T) {
			k, _, dir := open(t)
			canary := attack.NewCanary(t)
			attack.Tree(t, dir, canary.Lines("file "+channel.CommittedFile+" "+request, plant)...)
			before := attack.Descriptors(t, dir)
			attacker := attack.Start(t, dir, "swap "+channel.CommittedFile+" other")
			race(t, attack.Share(t, 2000, len(plants)), func() string {
				raw, err := k.ReadCommitted(channel.MaxSleepBytes)
				var refused *channel.RefusedError
				switch {
				case err == nil && string(raw) == request:
					return "read"
				case errors.As(err, &refused):
					return "refused"
				}
				return fmt.Sprintf("%.40q, %v", raw, err)
			}, "read", "refused")
			t.Logf("%d exchanges", attacker.Stop())
			if after := attack.Descriptors(t, dir); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
			canary.Check(t)
		})
	}
}

// The done marker says 5, and the plant says nothing.
func TestRaceDone(t *testing.T) {
	k, _, dir := open(t)
	attack.Tree(t, dir, "file queue-done 5", "fifo other")
	request := filepath.Join(dir, "queue-request")
	write(t, request, "")
	if err := os.Chtimes(request, time.Unix(3, 0), time.Unix(3, 0)); err != nil {
		t.Fatal(err)
	}
	attack.Start(t, dir, "swap queue-done other")
	race(t, attack.Rounds(t, 5000), func() string {
		stamp, pending, err := k.Pending("queue")
		if err != nil || stamp != 3 {
			return fmt.Sprint(stamp, err)
		}
		return fmt.Sprint("pending ", pending)
	}, "pending true", "pending false")
}

// Each file of an answer is exchanged for each kind of plant while it is written. What the
// kernel replaces is planted anew.
func TestRaceAnswer(t *testing.T) {
	plants := []string{
		"link other SECRET", "link other MISSING", "hard other SECRET", "fifo other", "socket other", "dir other",
	}
	for _, file := range []string{"queue.json", "queue-done"} {
		for _, plant := range plants {
			t.Run(file+"/"+plant, func(t *testing.T) {
				k, _, dir := open(t)
				canary := attack.NewCanary(t)
				attack.Tree(t, dir, canary.Lines("file "+file+" x", plant)...)
				before := attack.Descriptors(t, dir)
				attacker := attack.Start(t, dir, canary.Lines("swap "+file+" other", "again "+file+" other "+plant)...)
				race(t, attack.Share(t, 50, 2*len(plants)), func() string {
					planted := attacker.Done(1)
					err := k.Answer("queue", 7, []byte(ours))
					switch {
					// A directory that is there again is not fought over.
					case err != nil && !strings.HasPrefix(plant, "dir"):
						return err.Error()
					case err != nil || attacker.Done(1) > planted:
						return "met the plant"
					}
					return "answered"
				}, "answered", "met the plant")
				t.Logf("%d rounds", attacker.Stop())
				checkNoTemporary(t, dir)
				if after := attack.Descriptors(t, dir); after != before {
					t.Errorf("%d descriptors before, %d after", before, after)
				}
				canary.Check(t)
			})
		}
	}
}

// A directory on the way of an artifact is exchanged for a link to one outside.
// The kernel removes each link that it meets, and another is planted.
func TestRaceDeliver(t *testing.T) {
	k, _, dir := open(t)
	canary := attack.NewCanary(t)
	attack.Tree(t, dir, canary.Lines("dir results/l/0", "link other TREE")...)
	attacker := attack.Start(t, dir, canary.Lines("swap results/l/0 other", "again results/l/0 other link other TREE")...)
	r := channel.Result{Launch: "l", Task: 0, Artifact: "out/m.json"}
	race(t, attack.Rounds(t, 1000), func() string {
		planted := attacker.Done(1)
		err := errors.Join(k.Withdraw(r), k.Deliver(r, strings.NewReader(ours)))
		if err != nil || attacker.Done(1) > planted {
			return "link refused"
		}
		return "delivered"
	}, "delivered", "link refused")
	t.Logf("%d rounds", attacker.Stop())
	canary.Check(t)
}

// The attacker finds the temporary name by listing the directory and puts a
// link in its place, or takes it away.
func TestRaceTemporary(t *testing.T) {
	k, _, dir := open(t)
	canary := attack.NewCanary(t)
	attacker := attack.Start(t, dir, canary.Lines("link link SECRET", "temps link")...)
	race(t, attack.Rounds(t, 500), func() string {
		if err := k.Answer("queue", 7, []byte(ours)); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return err.Error()
			}
			return "failed"
		}
		info, err := os.Lstat(filepath.Join(dir, "queue.json"))
		if err != nil {
			return err.Error()
		}
		if !info.Mode().IsRegular() {
			return "the attacker's link"
		}
		return "answered"
	}, "answered", "failed", "the attacker's link")
	t.Logf("%d rounds", attacker.Stop())
	canary.Check(t)
}

// The channel is exchanged for another directory, and for a link to one outside.
func TestRaceChannel(t *testing.T) {
	for plant, outcomes := range map[string][]string{
		"dir other":       {"held", "replaced"},
		"link other TREE": {"held", "none"},
	} {
		t.Run(plant, func(t *testing.T) {
			k, s, dir := open(t)
			s.Close()
			canary := attack.NewCanary(t)
			workspace := filepath.Dir(dir)
			attack.Tree(t, workspace, canary.Lines(plant)...)
			attacker := attack.Start(t, workspace, "swap "+channel.DirName+" other")
			race(t, attack.Share(t, 500, 2), func() string {
				replaced, err := k.Refresh()
				if answered := k.Answer("queue", 7, []byte(ours)); answered != nil {
					return answered.Error()
				}
				switch {
				case errors.Is(err, channel.ErrNoChannel):
					return "none"
				case err != nil:
					return err.Error()
				case replaced:
					return "replaced"
				}
				return "held"
			}, outcomes...)
			t.Logf("%d exchanges", attacker.Stop())
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			if n := attack.Descriptors(t, workspace); n != 0 {
				t.Errorf("%d descriptors are left open", n)
			}
			canary.Check(t)
		})
	}
}
