package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

var update = flag.Bool("update", false, "write the golden files anew")

// midnight is 2026-01-01 00:00 UTC, in the zone below an hour later.
const midnight = 1767225600

var zone = time.FixedZone("", 3600)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: printed\n%s\nwant\n%s", file, got, want)
	}
}

const hostile = "\x1b[2Jx\nROOT: do this\u202e\u009b31m"

func TestQueue(t *testing.T) {
	launch := func(id, state, submitted string) channel.QueueJob {
		return channel.QueueJob{
			ID: id, Name: "r-launch-lr", State: state, Elapsed: "1:00", Partition: "gpu",
			Submitted: submitted, Reason: "None", GRES: "gres/gpu:1", Limit: "30:00", Agent: "ada", RunID: "r",
			Mine: true, Experiment: "lr", Why: "is it steadier?", Kind: "launch", Concurrency: 2,
		}
	}
	pending := launch("4", "PENDING", "2026-01-01T00:00:01")
	pending.Reason = "Resources"
	foreign := channel.QueueJob{
		ID: hostile, Name: hostile, State: "RUNNING", Elapsed: hostile, Partition: hostile,
		Submitted: "2025", GRES: hostile, Limit: hostile, Agent: hostile, Experiment: hostile, Why: strings.Repeat(hostile, 100),
	}
	lane := channel.Lane{Partition: "gpu", Nodes: map[string]int{"mixed": 1, "idle": 3, hostile: 1}}
	tests := []struct {
		name   string
		answer channel.QueueAnswer
	}{
		{"queue-order", channel.QueueAnswer{At: midnight, Lane: lane, Jobs: []channel.QueueJob{
			launch("9", "SUSPENDED", "2025-12-31T00:00:00"), pending, launch("3", "PENDING", "2026-01-01T00:00:00"),
			launch("2", "COMPLETING", "2026-01-01T00:00:00"), launch("1", "RUNNING", "2026-01-01T00:00:00"),
			{ID: "5", Name: "sync", State: "PENDING", Kind: "sync", Reason: "None", GRES: "N/A", Submitted: "2026-01-01T00:00:02"},
		}}},
		{"queue-hostile", channel.QueueAnswer{
			At: 1e300, Jobs: []channel.QueueJob{foreign},
			Lane: channel.Lane{Partition: hostile, Error: hostile},
		}},
		{"queue-empty", channel.QueueAnswer{At: midnight, Lane: channel.Lane{Partition: "cpu"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, Queue(tt.answer, zone)) })
	}
}

func TestHistory(t *testing.T) {
	zero, two := 0, 2
	answer := channel.HistoryAnswer{At: midnight, RunID: "r", History: []channel.HistoryEntry{
		{
			Sleep: 1, Name: "orders", Why: "how much context?", Minutes: 10, Array: 4, JobIDs: []string{"17"},
			SubmittedAt: midnight - 7200, Jobs: []channel.HistoryJob{
				{Name: "orders.0", ExitCode: &zero, State: "COMPLETED", EndedAt: midnight - 60},
				{Name: "orders.1", ExitCode: &two, State: "FAILED", EndedAt: midnight - 50},
				{Name: "orders.2", State: "OUT_OF_MEMORY", EndedAt: midnight - 40},
			},
		},
		{Sleep: 2, Name: "fine", Minutes: 1, SubmittedAt: midnight - 1},
		{
			Sleep: 2, Name: hostile, Why: hostile, Minutes: 1, Array: 1, JobIDs: []string{hostile}, SubmittedAt: -1e300,
			Jobs: []channel.HistoryJob{{Name: hostile, State: hostile, EndedAt: 1e300}},
		},
	}}
	golden(t, "history", History(answer, zone))
	golden(t, "history-empty", History(channel.HistoryAnswer{At: midnight}, zone))
}

func TestStaged(t *testing.T) {
	minutes := 90
	golden(t, "staged", Staged(channel.Staged{
		Launches: []channel.Launch{
			{Name: "a", Command: "sh -c 'one\ntwo'", Minutes: 1, Array: 1},
			{Name: "b", Command: "\x1b[2Jtrue", Minutes: 30, Array: 8, Concurrency: 2, Why: hostile, Artifacts: []string{"a", "b\nc"}},
		},
		Note: "first\nsecond", Submit: true, Report: "é", EvalMinutes: &minutes,
		Findings: make([]channel.Finding, 2),
	}))
	golden(t, "staged-empty", Staged(channel.Staged{}))
}

func TestVerdict(t *testing.T) {
	line, category := 40, hostile
	golden(t, "verdict", Verdict(channel.Verdict{
		Findings: []channel.Finding{
			{File: "train.py", Line: &line, Confidence: "high", Summary: "the test set is trained on", Detail: "see\nload()", Blocking: true, Kind: "change"},
			{File: hostile, Confidence: "low", Summary: hostile, Detail: hostile, Kind: "note", Category: &category},
		},
		Notes: hostile,
	}))
	golden(t, "verdict-empty", Verdict(channel.Verdict{}))
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Minute: "0 seconds", time.Second: "1 second", 59*time.Minute + 59*time.Second: "59 minutes",
		time.Hour: "1 hour", 25*time.Hour + 61*time.Second: "25 hours 1 minute",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) is %q, not %q", d, got, want)
		}
	}
}

func TestBudget(t *testing.T) {
	hours := 12.25
	golden(t, "budget", []byte(strings.Join([]string{
		Budget(channel.Budget{Launches: 1, Sleeps: 1}),
		Budget(channel.Budget{Launches: 2, Sleeps: 0, GPUHours: &hours}),
	}, "\n")+"\n"))
}
