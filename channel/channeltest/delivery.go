package channeltest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

func deliveryRules() []rule {
	delivers := func(c *Config) bool { return c.Deliver != nil }
	return []rule{
		{id: "D1", name: "an artifact is where the session looks for it", applies: delivers, check: (*suite).delivers},
		{id: "D2", name: "no artifact is too large or leads away", applies: delivers, check: (*suite).deliversWithinBounds},
		{
			id: "B1", name: "the budget is there when a session begins",
			applies: func(c *Config) bool { return c.Begin != nil }, check: (*suite).writesBudget,
		},
	}
}

// delivers: below the launch's name, or below that and the task's index; a
// later launch of the same name replaces what an earlier one has brought.
func (s *suite) delivers(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for file, r := range map[string]channel.Result{
		"results/one/a":           {Launch: "one", Task: -1, Artifact: "a"},
		"results/one/out/b.json":  {Launch: "one", Task: -1, Artifact: "out/b.json"},
		"results/many/0/a":        {Launch: "many", Task: 0, Artifact: "a"},
		"results/many/15/x/y/z ä": {Launch: "many", Task: 15, Artifact: "x/y/z ä"},
	} {
		for _, content := range []string{"first " + file, "", "second\x00" + file} {
			p.must(s.Deliver(t, p.workspace, r, []byte(content)))
			if got := p.read(p.path(file), channel.MaxArtifactBytes); string(got) != content {
				t.Errorf("%s holds %.80q, want %.80q", file, got, content)
			}
		}
	}
}

func (s *suite) deliversWithinBounds(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for size, ok := range map[int]bool{channel.MaxArtifactBytes: true, channel.MaxArtifactBytes + 1: false} {
		r := channel.Result{Launch: "size", Task: -1, Artifact: fmt.Sprint("a", size)}
		err := s.Deliver(t, p.workspace, r, make([]byte, size))
		got := p.read(p.path("results/size/"+r.Artifact), channel.MaxArtifactBytes+1)
		if ok && (err != nil || len(got) != size) || !ok && (err == nil || got != nil) {
			t.Errorf("an artifact of %d bytes: %v, %d bytes are there", size, err, len(got))
		}
	}
	p.must(os.Mkdir(p.path("results/size/d"), 0o777))
	for _, artifact := range []string{
		"", ".", "..", "/etc/passwd", "../escaped", "d/../../../escaped", "d/./x", "d//x", "d/", "~/x", `d\x`, "d\x00x",
		strings.Repeat("x", channel.MaxPathChars+1),
	} {
		if err := s.Deliver(t, p.workspace, channel.Result{Launch: "size", Task: -1, Artifact: artifact}, []byte("x")); err == nil {
			t.Errorf("the artifact %.40q was delivered", artifact)
		}
	}
}

func (s *suite) writesBudget(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for range 2 { // at each leg anew
		p.must(s.Begin(t, p.workspace))
		p.checkBudget()
	}
}

func (p *session) checkBudget() {
	p.Helper()
	raw := p.read(p.path(channel.BudgetFile), 1<<20)
	var b struct {
		Launches *int     `json:"launches_remaining"`
		Sleeps   *int     `json:"sleeps_remaining"`
		GPUHours *float64 `json:"gpu_hours_remaining"`
	}
	if err := json.Unmarshal(raw, &b); err != nil || b.Launches == nil || b.Sleeps == nil {
		p.Errorf("%s holds %.200q (%v), want launches_remaining and sleeps_remaining", channel.BudgetFile, raw, err)
	}
}
