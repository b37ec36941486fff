package watcher

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/ledger"
)

func askHistory(t testing.TB, h Handler) channel.HistoryAnswer {
	t.Helper()
	v, err := h(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	var a channel.HistoryAnswer
	mustDo(t, json.Unmarshal(raw, &a))
	return a
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "launches.jsonl")
	h := History(path, `r"1`)
	if a := askHistory(t, h); a.RunID != `r"1` || a.At == 0 || a.History == nil || len(a.History) != 0 {
		t.Errorf("without a ledger: %+v", a)
	}
	at := time.Unix(1_700_000_000, 0)
	one := 1
	_, err := ledger.AppendSubmitted(t.Context(), path, ledger.Submitted{
		Sleep: 1, Name: "grid", Why: "why", Minutes: 5, Array: 2, JobIDs: []string{"7"}, At: at,
	})
	mustDo(t, err)
	want := []channel.HistoryEntry{{
		Sleep: 1, Name: "grid", Why: "why", Minutes: 5, Array: 2, JobIDs: []string{"7"},
		SubmittedAt: 1_700_000_000, Jobs: []channel.HistoryJob{},
	}}
	if diff := cmp.Diff(want, askHistory(t, h).History); diff != "" {
		t.Error(diff)
	}
	_, err = ledger.AppendEnded(t.Context(), path, ledger.Ended{Sleep: 1, Name: "grid.1", ExitCode: &one, State: "FAILED", At: at})
	mustDo(t, err)
	want[0].Jobs = []channel.HistoryJob{{Name: "grid.1", ExitCode: &one, State: "FAILED", EndedAt: 1_700_000_000}}
	for range 2 { // read, and kept
		if diff := cmp.Diff(want, askHistory(t, h).History); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHistoryUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "launches.jsonl")
	mustDo(t, os.Mkdir(path, 0o777))
	if v, err := History(path, "r")(t.Context()); err == nil || strings.Contains(err.Error(), path) {
		t.Errorf("got %v, %v; want an error that does not name the kernel's path", v, err)
	}
}
