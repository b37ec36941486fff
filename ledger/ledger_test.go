package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var at = time.Unix(1_700_000_000, 250_000_000)

func newLedger(t testing.TB) string { return filepath.Join(t.TempDir(), "launches.jsonl") }

func code(n int) *int { return &n }

func mustAppend(t testing.TB, path string, records ...any) {
	t.Helper()
	for _, r := range records {
		var err error
		switch r := r.(type) {
		case Submitted:
			_, err = AppendSubmitted(t.Context(), path, r)
		case Ended:
			_, err = AppendEnded(t.Context(), path, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustHistory(t testing.TB, path string) Log {
	t.Helper()
	log, err := History(path)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestWire(t *testing.T) {
	path := newLedger(t)
	mustAppend(t, path,
		Submitted{Sleep: 2, Name: "grid", Why: "a < b & \"c\"", Minutes: 30, Array: 3, JobIDs: []string{"17"}, At: at},
		Ended{Sleep: 2, Name: "grid.0", ExitCode: code(1), State: "FAILED", At: at},
		Ended{Sleep: 2, Name: "grid.1", State: "OUT_OF_MEMORY", At: at},
		Submitted{Sleep: 3, Name: "none", Array: 1, At: at},
	)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"submitted","sleep":2,"name":"grid","why":"a < b & \"c\"","minutes":30,"array":3,"job_ids":["17"],"at":1700000000.25}
{"event":"ended","sleep":2,"name":"grid.0","exit_code":1,"state":"FAILED","at":1700000000.25}
{"event":"ended","sleep":2,"name":"grid.1","exit_code":null,"state":"OUT_OF_MEMORY","at":1700000000.25}
{"event":"submitted","sleep":3,"name":"none","why":"","minutes":0,"array":1,"job_ids":[],"at":1700000000.25}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryJoins(t *testing.T) {
	path := newLedger(t)
	mustAppend(t, path,
		// Came back before its launch was recorded: that record had been torn.
		Ended{Sleep: 1, Name: "a", ExitCode: code(0), State: "COMPLETED", At: at},
		Submitted{Sleep: 1, Name: "a", JobIDs: []string{"1"}, Array: 1, At: at},
		Submitted{Sleep: 1, Name: "grid", JobIDs: []string{"2"}, Array: 2, At: at},
		Submitted{Sleep: 2, Name: "a", JobIDs: []string{"3"}, Array: 1, At: at},
		Ended{Sleep: 1, Name: "grid.1", ExitCode: code(0), State: "COMPLETED", At: at},
		Ended{Sleep: 1, Name: "grid.0", ExitCode: code(2), State: "FAILED", At: at},
		Ended{Sleep: 9, Name: "a", State: "FAILED", At: at},
	)
	log := mustHistory(t, path)
	var got []string
	for _, l := range log.Launches {
		line := fmt.Sprintf("%d/%s:", l.Sleep, l.Name)
		for _, j := range l.Jobs {
			line += " " + j.Name
		}
		got = append(got, line)
	}
	want := []string{"1/a: a", "1/grid: grid.1 grid.0", "2/a:"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(log.Stray) != 1 || log.Stray[0].Sleep != 9 || log.Lost != 0 {
		t.Errorf("stray %v, lost %d; want the job of sleep 9, 0", log.Stray, log.Lost)
	}
}

func TestFirstRecordStands(t *testing.T) {
	path := newLedger(t)
	first := Submitted{Sleep: 1, Name: "a", Why: "first", Array: 1, JobIDs: []string{"1"}, At: at}
	again := first
	again.Why = "again"
	for _, c := range []struct {
		launches []Submitted
		want     int
	}{
		{[]Submitted{first, again}, 1}, // twice in one call
		{[]Submitted{again}, 0},
		{[]Submitted{again, {Sleep: 2, Name: "a", Array: 1, At: at}}, 1},
		{nil, 0},
	} {
		if n, err := AppendSubmitted(t.Context(), path, c.launches...); n != c.want || err != nil {
			t.Errorf("AppendSubmitted(%v) = %d, %v; want %d", c.launches, n, err, c.want)
		}
	}
	for want := 1; want >= 0; want-- {
		n, err := AppendEnded(t.Context(), path, Ended{Sleep: 1, Name: "a", State: "FAILED", At: at})
		if n != want || err != nil {
			t.Errorf("AppendEnded = %d, %v; want %d", n, err, want)
		}
	}
	log := mustHistory(t, path)
	if len(log.Launches) != 2 || log.Launches[0].Why != "first" || len(log.Launches[0].Jobs) != 1 {
		t.Errorf("history is %+v", log)
	}
}

func TestMissingLedgerIsEmpty(t *testing.T) {
	path := newLedger(t)
	if log := mustHistory(t, path); len(log.Launches) != 0 {
		t.Errorf("got %+v", log)
	}
	if labels, err := ReadLabels(path); err != nil || len(labels) != 0 {
		t.Errorf("ReadLabels = %v, %v", labels, err)
	}
	if _, err := History(filepath.Dir(path)); err == nil {
		t.Error("a directory was read as a ledger")
	}
}

// TestTornLine cuts the last line at every byte. Only that line may be lost,
// and what is appended afterwards has to be whole.
func TestTornLine(t *testing.T) {
	path := newLedger(t)
	mustAppend(t, path,
		Submitted{Sleep: 1, Name: "keep", Array: 1, JobIDs: []string{"1"}, At: at},
		Submitted{Sleep: 1, Name: "torn", Array: 1, JobIDs: []string{"2"}, At: at})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.IndexByte(whole, '\n') + 1
	for cut := start; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, path,
			Submitted{Sleep: 1, Name: "torn", Array: 1, JobIDs: []string{"2"}, At: at},
			Ended{Sleep: 1, Name: "keep", State: "COMPLETED", At: at})
		log := mustHistory(t, path)
		if len(log.Launches) != 2 || len(log.Launches[0].Jobs) != 1 || log.Launches[1].Name != "torn" {
			t.Fatalf("cut at %d: %+v", cut, log)
		}
		// Nothing was torn at the line's start, and without its newline alone the
		// line is a record still.
		wantLost := 1
		if cut == start || cut == len(whole)-1 {
			wantLost = 0
		}
		if log.Lost != wantLost {
			t.Fatalf("cut at %d: %d lines lost, want %d", cut, log.Lost, wantLost)
		}
	}
}

func TestOtherLines(t *testing.T) {
	long := `{"event":"submitted","sleep":1,"name":"long","why":"` + strings.Repeat("x", MaxLineBytes) + `"}`
	wide := `{"event":"submitted","sleep":1,"name":"wide","why":"` + strings.Repeat("x", 200<<10) + `"}`
	lines := []struct {
		line  string
		lost  int
		names string
	}{
		{`{"event":"submitted","sleep":1,"name":"a","array":1}`, 0, "a"},
		{`  {"event" : "submitted", "name" : "spaced", "sleep":1}  `, 0, "spaced"},
		{`{"event":"submitted","sleep":1,"name":"\u0062","new":{"key":[1]}}`, 0, "b"},
		{`{"event":"resumed","sleep":"any"}`, 0, ""},
		{`{"event":"resumed","job_ids":7}`, 0, ""},
		{``, 0, ""},
		{`{"event":"submitted","sleep":1,"name":""}`, 1, ""},
		{`{"event":"submitted","sleep":true,"name":"bool"}`, 1, ""},
		{`{"event":"submitted","sleep":1,"name":"x"} trailing`, 1, ""},
		{`{"sleep":1,"name":"no event"}`, 1, ""},
		{`{}`, 1, ""},
		{`[]`, 1, ""},
		{`null`, 1, ""},
		{"\x00\x00\x00", 1, ""},
		{long, 1, ""},
		{wide, 0, "wide"},
	}
	var text, names []string
	lost := 0
	for _, l := range lines {
		text = append(text, l.line)
		lost += l.lost
		if l.names != "" {
			names = append(names, l.names)
		}
		log, err := readLog(strings.NewReader(l.line), 0)
		if err != nil || log.Lost != l.lost {
			t.Errorf("%.60q alone: lost %d, %v; want %d", l.line, log.Lost, err, l.lost)
		}
	}
	log, err := readLog(strings.NewReader(strings.Join(text, "\n")), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range log.Launches {
		got = append(got, l.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" || log.Lost != lost {
		t.Errorf("lost %d, want %d; %s", log.Lost, lost, diff)
	}
}

func TestRefusesWhatCouldNotBeReadBack(t *testing.T) {
	path := newLedger(t)
	for _, s := range []Submitted{
		{Sleep: 1, At: at},
		{Sleep: 1, Name: "a", Why: strings.Repeat("x", MaxLineBytes), At: at},
	} {
		if n, err := AppendSubmitted(t.Context(), path, s); err == nil || n != 0 {
			t.Errorf("AppendSubmitted(%.40q) = %d, %v", s.Name, n, err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused record made the ledger: %v", err)
	}
}

func TestLabels(t *testing.T) {
	path := newLedger(t)
	mustAppend(t, path,
		Submitted{Sleep: 4, Name: "grid", Why: "w", Array: 9, JobIDs: []string{"7"}, At: at},
		Submitted{Sleep: 4, Name: "two", Array: 1, JobIDs: []string{"8", "l-9"}, At: at})
	labels, err := ReadLabels(path)
	if err != nil {
		t.Fatal(err)
	}
	grid := Label{Sleep: 4, Name: "grid", Why: "w", Array: 9}
	two := Label{Sleep: 4, Name: "two", Array: 1}
	for id, want := range map[string]Label{
		"7": grid, "7_3": grid, "7_[4-8%2]": grid, "7.batch": grid, "8": two, "l-9": two,
		"77": {}, "": {}, "_7": {}, "l": {},
	} {
		if got, ok := labels.Of(id); got != want || ok != (want != Label{}) {
			t.Errorf("Of(%q) = %+v, %v; want %+v", id, got, ok, want)
		}
	}
}

func TestSplitTask(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a -", "a.0": "a 0", "a.15": "a 15", "a.": "a. -", "a.01": "a.01 -", "a.-1": "a.-1 -", "a.b": "a.b -", "a.+1": "a.+1 -",
	} {
		launch, task, ok := SplitTask(name)
		got := launch + " -"
		if ok {
			got = launch + " " + strconv.Itoa(task)
		}
		if got != want {
			t.Errorf("SplitTask(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestTimesSurvive(t *testing.T) {
	for _, s := range []float64{0, 0.5, 1_700_000_000.123456, 1_796_074_064.868162, -1.5, 4e9} {
		if got := seconds(fromSeconds(s)); got != s {
			t.Errorf("%v became %v", s, got)
		}
	}
	if !fromSeconds(1e300).IsZero() {
		t.Error("a time beyond all files was kept")
	}
}

// TestManyWriters appends the same records from many goroutines and from other
// processes. Each must be there once.
func TestManyWriters(t *testing.T) {
	const records = 20
	if path := os.Getenv("LEDGER_TEST_WRITER"); path != "" {
		for i := range records {
			mustAppend(t, path, Submitted{Sleep: i, Name: "a", Array: 1, At: at}, Ended{Sleep: i, Name: "a", State: "FAILED", At: at})
		}
		return
	}
	path := newLedger(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyWriters$")
			cmd.Env = append(os.Environ(), "LEDGER_TEST_WRITER="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer: %v\n%s", err, out)
			}
		})
		wg.Go(func() {
			for i := range records {
				if _, err := AppendSubmitted(t.Context(), path, Submitted{Sleep: i, Name: "a", Array: 1, At: at}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n != 2*records {
		t.Errorf("%d lines, want %d", n, 2*records)
	}
	if log := mustHistory(t, path); len(log.Launches) != records || log.Lost != 0 {
		t.Errorf("%d launches, %d lost", len(log.Launches), log.Lost)
	}
}

func TestLockedByAnother(t *testing.T) {
	path := newLedger(t)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if n, err := AppendEnded(ctx, path, Ended{Name: "a", At: at}); n != 0 || err == nil {
		t.Errorf("AppendEnded = %d, %v; want an error", n, err)
	}
}
