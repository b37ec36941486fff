package tick

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/engine"
)

// A tick that hangs is ended at its limit with all that it has started, and the loop
// has its turn again.
func TestHungTick(t *testing.T) {
	dir := t.TempDir()
	root, err := engine.CreateRoot(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root.Path(), logsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(dir, "started")
	program := filepath.Join(dir, "outerloop-tick")
	script := "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $$ $! >" + started + ".new\nmv " + started + ".new " + started + "\nwait\n"
	for _, name := range []string{program, filepath.Join(dir, "syscall-launch")} {
		if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &call{World: World{
		Stdout: io.Discard, Stderr: io.Discard,
		LookupEnv:  func(string) (string, bool) { return "", false },
		Executable: func() (string, error) { return program, nil },
	}}
	r := &resident{call: c, root: root, log: slog.New(slog.NewTextHandler(t.Output(), nil)), limit: time.Second}
	// On a machine where a shell does not get that far in the time it gets more.
	for ; r.limit < time.Minute; r.limit *= 2 {
		r.tick(t.Context())
		raw, err := os.ReadFile(started)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(raw)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			awaitGone(t, pid)
		}
		return
	}
	t.Fatal("the tick never began")
}

// awaitGone waits until a process is dead, whoever has to reap it.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for syscall.Kill(pid, 0) == nil {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(raw), ") Z ") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d lives on", pid)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
