package render

import (
	"strconv"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// BenchmarkHistory renders what a ledger of 100,000 rows holds.
func BenchmarkHistory(b *testing.B) {
	zero := 0
	a := channel.HistoryAnswer{At: midnight}
	for i := range 50_000 {
		name := "launch-" + strconv.Itoa(i)
		a.History = append(a.History, channel.HistoryEntry{
			Sleep: i / 8, Name: name, Why: "is it steadier?", Minutes: 30, Array: 1, JobIDs: []string{strconv.Itoa(i)},
			SubmittedAt: midnight, Jobs: []channel.HistoryJob{{Name: name, ExitCode: &zero, State: "COMPLETED", EndedAt: midnight}},
		})
	}
	for b.Loop() {
		History(a, time.UTC)
	}
}
