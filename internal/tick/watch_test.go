package tick

import (
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/ledger"
)

// A table is cut to the terminal, in both directions, and clears what was there.
func TestScreenFitsTheTerminal(t *testing.T) {
	table := "ünïcödé and more\nb\nc\nd\n"
	for _, tt := range []struct {
		columns, lines int
		want           string
	}{
		{0, 0, "\x1b[Hünïcödé and more\x1b[K\r\nb\x1b[K\r\nc\x1b[K\r\nd\x1b[K\x1b[J"},
		{8, 4, "\x1b[Hünïcödé…\x1b[K\r\nb\x1b[K\r\nc\x1b[K\r\nd\x1b[K\x1b[J"},
		{80, 3, "\x1b[Hünïcödé and more\x1b[K\r\nb\x1b[K\r\n… and 2 lines more\x1b[K\x1b[J"},
	} {
		if got := screen(table, tt.columns, tt.lines); got != tt.want {
			t.Errorf("on %d columns and %d lines: %q, not %q", tt.columns, tt.lines, got, tt.want)
		}
	}
}

func TestUnderWay(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	parked := engine.Story{
		Status: engine.Status{Run: "a", State: engine.Parked, Sleeps: 2},
		Launches: []engine.LaunchStory{
			{Submitted: ledger.Submitted{Name: "before", Sleep: 1}, Jobs: make([]engine.JobStory, 1)},
			{Submitted: ledger.Submitted{Name: "sw", Sleep: 2, Minutes: 30}, Jobs: []engine.JobStory{
				{Began: ago(20), Ended: ago(8)}, {Began: ago(9)}, {Began: ago(3)}, {},
			}},
		},
	}
	running := engine.Story{
		Status: engine.Status{Run: "b", State: engine.Running}, LegTime: time.Hour,
		Legs: []engine.LegStory{{Number: 4, Began: ago(30)}},
	}
	var b strings.Builder
	underWay(&b, &parked, now)
	underWay(&b, &running, now)
	const want = "a\tsw\t[###.........]\t1 of 4 done, 2 running\t9m of 30m\n" +
		"b\tleg 4\t[######......]\t\t30m of 1h\n"
	if b.String() != want {
		t.Errorf("got\n%s\nnot\n%s", b.String(), want)
	}
}
