package channel_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/attack"
)

// race runs round again and again, at least as often as [attack.Rounds] says
// and until each of the outcomes has been seen. The attacker is running.
func race(t *testing.T, ordinary int, round func() string, outcomes ...string) {
	t.Helper()
	var seen attack.Outcomes
	deadline := time.Now().Add(patience)
	for n := attack.Rounds(t, ordinary); n > 0 || !seen.Seen(outcomes...); n-- {
		if n < 0 && time.Now().After(deadline) {
			break // Require says what was never seen
		}
		seen.Add(round())
	}
	seen.Require(t, outcomes...)
}

// two makes a pair of names to exchange: a good one and a plant.
func two(t *testing.T, dir string, c *attack.Canary, good, plant string) (a, b string) {
	t.Helper()
	named := strings.NewReplacer("SECRET", c.Secret, "TREE", c.Tree)
	attack.Tree(t, dir, good, named.Replace(plant))
	name := func(line string) string { return filepath.Join(dir, strings.Fields(line)[1]) }
	return name(good), name(plant)
}

// The committed request is exchanged for each kind of plant while it is read.
func TestRaceCommitted(t *testing.T) {
	const request = `{"type":"sleep"}`
	for _, plant := range []string{"link other SECRET", "hard other SECRET", "fifo other", "socket other", "dir other"} {
		t.Run(plant, func(t *testing.T) {
			k, _, dir := open(t)
			canary := attack.NewCanary(t)
			a, b := two(t, dir, canary, "file "+channel.CommittedFile+" "+request, plant)
			before := attack.Descriptors(t, dir)
			stop := attack.Swap(t, a, b, nil)
			race(t, 2000, func() string {
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
			t.Logf("%d exchanges", stop())
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
	canary := attack.NewCanary(t)
	a, b := two(t, dir, canary, "file queue-done 5", "fifo other")
	request := filepath.Join(dir, "queue-request")
	write(t, request, "")
	if err := os.Chtimes(request, time.Unix(3, 0), time.Unix(3, 0)); err != nil {
		t.Fatal(err)
	}
	attack.Swap(t, a, b, nil)
	race(t, 5000, func() string {
		stamp, pending, err := k.Pending("queue")
		if err != nil || stamp != 3 {
			return fmt.Sprint(stamp, err)
		}
		return fmt.Sprint("pending ", pending)
	}, "pending true", "pending false")
}

// A directory on the way of an artifact is exchanged for a link to one outside.
// The kernel removes each link that it meets, and another is planted.
func TestRaceDeliver(t *testing.T) {
	k, _, dir := open(t)
	canary := attack.NewCanary(t)
	a, b := two(t, dir, canary, "dir results/l/0", "link other TREE")
	isLink := func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	}
	var met atomic.Int64
	attack.Loop(t, func() {
		attack.Exchange(a, b)
		if !isLink(a) && !isLink(b) {
			met.Add(1)
			os.RemoveAll(b)
			os.Symlink(canary.Tree, b)
		}
	})
	r := channel.Result{Launch: "l", Task: 0, Artifact: "out/m.json"}
	race(t, 1000, func() string {
		before := met.Load()
		err := errors.Join(k.Withdraw(r), k.Deliver(r, strings.NewReader(ours)))
		if err != nil || met.Load() > before {
			return "link refused"
		}
		return "delivered"
	}, "delivered", "link refused")
	canary.Check(t)
}

// The attacker finds the temporary name by listing the directory and puts a
// link in its place, or takes it away.
func TestRaceTemporary(t *testing.T) {
	k, _, dir := open(t)
	canary := attack.NewCanary(t)
	link := filepath.Join(dir, "link")
	round := 0
	attack.Loop(t, func() {
		round++
		os.Symlink(canary.Secret, link) // ready before there is something to replace
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case !strings.HasPrefix(e.Name(), ".tmp-"):
			case round%4 == 0:
				os.Remove(path)
			default:
				os.Rename(link, path)
			}
		}
	})
	race(t, 500, func() string {
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
			a, b := two(t, workspace, canary, "dir "+channel.DirName, plant)
			stop := attack.Swap(t, a, b, nil)
			race(t, 500, func() string {
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
			stop()
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
