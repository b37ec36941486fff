package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSeenRecords: a record that did not change is not read again, one that did
// is, and one that went is forgotten.
func TestSeenRecords(t *testing.T) {
	root, err := CreateRoot(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root.RunDir("a"), "run.json")
	write := func(leg int, age time.Duration) {
		t.Helper()
		if err := os.MkdirAll(root.RunDir("a"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(path, Record{Version: recordVersion, ID: "a", State: Parked, Leg: leg}); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var seen seenRecords
	leg := func() int {
		got := -1
		seen.load(root, []string{"a"}, func(rec Record, err error) {
			if err == nil {
				got = rec.Leg
			}
		})
		return got
	}
	if got := leg(); got != -1 || len(seen.kept) != 0 {
		t.Errorf("of nothing: %d", got)
	}
	write(1, 0)
	if got := leg(); got != 1 || len(seen.kept) != 0 {
		t.Errorf("a record that was just written: %d, %d kept", got, len(seen.kept))
	}
	write(2, time.Hour)
	if got := leg(); got != 2 || len(seen.kept) != 1 {
		t.Errorf("an old one: %d, %d kept", got, len(seen.kept))
	}
	// To see that it is not read: content that no stat tells from the old one.
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, st.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := leg(); got != 2 {
		t.Errorf("one that did not change: %d", got)
	}
	write(3, time.Hour)
	if got := leg(); got != 3 {
		t.Errorf("another file: %d", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := leg(); got != -1 || len(seen.kept) != 0 {
		t.Errorf("one that is gone: %d, %d kept", got, len(seen.kept))
	}
}
