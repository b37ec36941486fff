package channel_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// What a killed kernel has left goes when the next one begins; a publish that is under way
// and what is not the kernel's stay.
func TestSweep(t *testing.T) {
	_, _, dir := open(t)
	victim := filepath.Join(t.TempDir(), "victim")
	put := func(path string, age time.Duration) {
		t.Helper()
		then := time.Now().Add(-age)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	put(victim, 3*time.Hour)
	put(filepath.Join(dir, ".tmp-old"), 3*time.Hour)
	put(filepath.Join(dir, ".discarded-old"), 3*time.Hour)
	put(filepath.Join(dir, ".tmp-new"), 0)
	put(filepath.Join(dir, "notes"), 3*time.Hour)
	if err := os.MkdirAll(filepath.Join(dir, ".discarded-dir", "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(victim, filepath.Join(dir, ".tmp-linked")); err != nil {
		t.Fatal(err)
	}
	again, err := channel.CreateKernel(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for path, want := range map[string]bool{
		filepath.Join(dir, ".tmp-old"):                false,
		filepath.Join(dir, ".discarded-old"):          false,
		filepath.Join(dir, ".tmp-linked"):             false,
		filepath.Join(dir, ".tmp-new"):                true,
		filepath.Join(dir, "notes"):                   true,
		filepath.Join(dir, ".discarded-dir", "below"): true,
		victim: true,
	} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: there is %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
}
