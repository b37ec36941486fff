package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParsersAgree holds the fast parser against encoding/json: a line that the
// first one reads has the same meaning to the second.
func FuzzParsersAgree(f *testing.F) {
	for _, line := range []string{
		`{"event":"submitted","sleep":1,"name":"a","why":"w","minutes":30,"array":1,"job_ids":["7","8"],"at":1.5}`,
		`{"event": "ended", "sleep": -0, "name": "a.1", "exit_code": null, "state": "FAILED", "at": 10}`,
		`{"exit_code":-1,"job_ids":[]}`, `{"Event":"ended"}`, `{"name":"é\u0001"}`, `{"sleep":01}`, `{"at":1.}`, `{"at":-}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		var fast, slow parser
		if !fast.fast(line) {
			return
		}
		if !slow.slow(line) {
			t.Fatalf("%q is read by the fast parser alone", line)
		}
		if diff := cmp.Diff(slow.rec, fast.rec); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	})
}

// FuzzAppendAfterAnything appends to whatever may stand in a ledger. What could
// be read before has to be there still, the new record too.
func FuzzAppendAfterAnything(f *testing.F) {
	f.Add([]byte("{\"event\":\"submitted\",\"sleep\":1,\"name\":\"a\"}\n{\"event\":\"ended\",\"sl"))
	f.Add([]byte("\n\n{"))
	f.Add([]byte(`{"event":"submitted","sleep":9,"name":"new","array":3}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "launches.jsonl")
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		before := mustHistory(t, path)
		added, err := AppendSubmitted(t.Context(), path, Submitted{Sleep: 9, Name: "new", Array: 3, At: at})
		if err != nil {
			t.Fatal(err)
		}
		after := mustHistory(t, path)
		if len(after.Launches) != len(before.Launches)+added || after.Lost != before.Lost {
			t.Fatalf("%d launches and %d lost became %d and %d, %d added",
				len(before.Launches), before.Lost, len(after.Launches), after.Lost, added)
		}
		found := 0
		for i, l := range after.Launches {
			if l.Sleep == 9 && l.Name == "new" {
				found++
			}
			if i < len(before.Launches) && !cmp.Equal(l.Submitted, before.Launches[i].Submitted) {
				t.Errorf("launch %d was %+v and is %+v", i, before.Launches[i], l)
			}
		}
		if found != 1 {
			t.Errorf("the launch is there %d times", found)
		}
	})
}
