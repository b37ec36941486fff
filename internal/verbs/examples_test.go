package verbs

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// TestExamples runs what each program's --help shows, as it is written there, in a
// workspace that has the files it names and a kernel that answers.
func TestExamples(t *testing.T) {
	for program, build := range All() {
		for _, example := range build().examples {
			line := strings.TrimSpace(program + " " + example)
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				workspace := exampleWorkspace(t)
				if program == "syscall-sleep" { // it says what to call before
					line = "syscall-note later >/dev/null && " + line
				}
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir = workspace
				cmd.Env = append(os.Environ(), "OUTERLOOP_WORKSPACE="+workspace, "GORACE="+raceOptions)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
				}
				if strings.Contains(line, "--json") != json.Valid(out) || len(out) == 0 {
					t.Errorf("it prints\n%s", out)
				}
			})
		}
	}
}

func exampleWorkspace(t *testing.T) string {
	t.Helper()
	workspace := newWorkspace(t)
	for name, text := range map[string]string{"report.md": "It is better.", "docs/attempt.md": "It is better.", "plan.txt": "Try less."} {
		path := filepath.Join(workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	for _, report := range []string{"2026-11-03-baseline", "2026-11-05-rates"} {
		if err := k.WriteReport(report, []byte("Outcome: it is better\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.WriteSiblings([]channel.Sibling{{Agent: "ada"}}); err != nil {
		t.Fatal(err)
	}
	w := watcher.New(watcher.Options{})
	t.Cleanup(func() { w.Close() })
	answer := func(v any) watcher.Handler { return func(context.Context) (any, error) { return v, nil } }
	if _, err := w.Add(k, map[string]watcher.Handler{
		"queue":          answer(channel.QueueAnswer{Jobs: []channel.QueueJob{}}),
		"history":        answer(channel.HistoryAnswer{History: []channel.HistoryEntry{}}),
		channel.SyncVerb: answer(channel.SyncAnswer{Moved: []channel.Moved{}}),
	}); err != nil {
		t.Fatal(err)
	}
	return workspace
}
