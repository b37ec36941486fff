package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReproducible: two builds of one source, in directories of different names,
// are the same bytes. Whoever has the source can tell what an image holds.
func TestReproducible(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(out))
	var built [2][]byte
	for i, name := range []string{"here", "somewhere/else entirely"} {
		dir := filepath.Join(t.TempDir(), name)
		// What a verb is made of; tests and the rest would only take time.
		for _, part := range []string{"go.mod", "go.sum", "channel", "cmd/syscall-history", "internal"} {
			to := filepath.Join(dir, part)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), "cp", "-R", filepath.Join(module, part), to).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		program := filepath.Join(dir, "program")
		// The flags are those of the Makefile.
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, "./cmd/syscall-history")
		build.Dir = dir
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if built[i], err = os.ReadFile(program); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(built[i], []byte(dir)) {
			t.Errorf("the program names %s, where it was built", dir)
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Errorf("two builds differ: %d and %d bytes", len(built[0]), len(built[1]))
	}
}
