package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/ledger"
)

func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// story is a run in which every text of the author's is the same one.
func story(id, text string, launches int) engine.Story {
	t0, one, zero := noon(), 1, 0
	s := engine.Story{
		Status: engine.Status{
			Run: id, Agent: text, State: engine.Ended, Outcome: engine.Submitted, Reason: text,
			Created: t0, Ended: t0.Add(time.Hour),
		},
		Legs:   []engine.LegStory{{Number: 0, Began: t0, Ended: t0.Add(time.Minute), Cause: "itself"}},
		Report: text,
	}
	for i := range launches {
		s.Launches = append(s.Launches, engine.LaunchStory{
			Submitted: ledger.Submitted{Sleep: 1, Name: fmt.Sprintf("l%d", i), Why: text, Minutes: 90, Array: 2, At: t0.Add(time.Minute)},
			Jobs: []engine.JobStory{
				{Task: 0, Began: t0.Add(2 * time.Minute), Ended: t0.Add(9 * time.Minute), ExitCode: &zero, State: "COMPLETED"},
				{Task: 1, Began: t0.Add(9 * time.Minute), Ended: t0.Add(30 * time.Minute), ExitCode: &one, State: text},
			},
		})
	}
	return s
}

func rendered(t *testing.T, stories ...engine.Story) []byte {
	t.Helper()
	html, err := Render(Site{Title: "Runs", At: noon().Add(2 * time.Hour), Stories: stories})
	if err != nil {
		t.Fatal(err)
	}
	return html
}

func TestSaysWaitAndRunApart(t *testing.T) {
	html := string(rendered(t, story("a", "why not", 1)))
	for _, want := range []string{
		"waited 1 min to 8 min · ran 7 min to 21 min · walltime 1 h 30 min",
		"1 of 2 done, 1 not",
		"0: done, waited 1 min, ran 7 min",
		`class="queue" x="1.667%" width="1.667%"`,
		`class="good" x="3.333%" width="11.667%"`,
		"why not",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A judge's run shows its verdict, what blocks first, and the judged run shows who judged it.
func TestVerdict(t *testing.T) {
	line, category := 40, "leak"
	s := story("j", "", 0)
	s.Role, s.Outcome, s.Judges = engine.Judge, engine.Concluded, []engine.Judged{{Run: "a"}}
	s.Verdict = &engine.VerdictCount{Findings: 2, Blocking: 1}
	s.FullVerdict = &engine.Verdict{Notes: "read <all>", Findings: []channel.Finding{
		{File: "README.md", Confidence: "low", Summary: "which seed?", Kind: "question"},
		{File: "train.py", Line: &line, Confidence: "high", Summary: "trains on the test set", Detail: "<b>", Blocking: true, Kind: "change", Category: &category},
	}}
	html := string(rendered(t, story("a", "", 1), s))
	at := 0
	for _, want := range []string{
		"<b>Judged by</b> j, concluded, 2 findings, 1 blocking", "<h2>j</h2>", "<dt>Judges</dt><dd><b>a</b>",
		"Verdict: 2 findings, 1 blocking", "blocking change</span>", "<b>train.py:40</b>", "high confidence, leak", "trains on the test set", "&lt;b&gt;",
		"<b>README.md</b>", "low confidence", "which seed?", "read &lt;all&gt;",
	} {
		i := strings.Index(html[at:], want)
		if i < 0 {
			t.Fatalf("the page does not say %q, or not in its place", want)
		}
		at += i
	}
	if strings.Count(html, "Budget left") != 1 {
		t.Error("a judge has a budget")
	}
}

// A page with ten times the runs is still one that a phone can open.
func TestIsBounded(t *testing.T) {
	text := strings.Repeat("a long story ", 100_000)
	var many []engine.Story
	for i := range 1000 {
		s := story(fmt.Sprintf("run-%03d", i), text, 3)
		s.Report = text[:engine.MaxStoryReport]
		many = append(many, s)
	}
	html := rendered(t, many...)
	if len(html) > maxBytes+maxBytes/4 {
		t.Errorf("the page of 1000 runs has %d bytes", len(html))
	}
	for i := range many {
		if !bytes.Contains(html, []byte(many[i].Run)) {
			t.Errorf("%s is not on the page", many[i].Run)
		}
	}
}

func TestAgeInTwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 1500 * time.Millisecond: "1.5 s", 59 * time.Second: "59 s",
		time.Minute: "1 min", 3*time.Hour + 20*time.Minute: "3 h 20 min", 75 * time.Hour: "3 d 3 h",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) is %q, not %q", d, got, want)
		}
	}
}
