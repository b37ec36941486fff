package engine

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// judgeOf makes a judge's run of the bench's, once that has submitted, and opens it.
func judgeOf(t *testing.T, b *bench) *Run {
	t.Helper()
	b.submit1(t)
	n := NewRun{ID: "j", Prompt: []byte("judge"), Settings: Settings{
		Judges: []Judged{{Run: b.id}}, Command: []string{"true"}, Sandbox: sandbox.None, LegTime: Duration{time.Hour}, CPUs: 1,
	}}
	id, err := New(t.Context(), b.Root, n, time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b.id = id
	return b.open(t)
}

// commit leaves a request in the run's channel, as a session would.
func commit(t *testing.T, r *Run, request string) *channel.Kernel {
	t.Helper()
	k, err := channel.CreateKernel(r.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	if err := os.WriteFile(filepath.Join(r.Workspace, channel.DirName, channel.CommittedFile), []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

// A verdict may be larger than any sleep. Whatever dies after it was kept, it is kept
// once more and stays the same.
func TestVerdictOutlivesItsProcess(t *testing.T) {
	b := newBench(t)
	r := judgeOf(t, b)
	finding := `{"file":"a","line":null,"confidence":"low","summary":"` + strings.Repeat("s", 5000) + `","detail":"","blocking":true,"kind":"note"}`
	request := `{"type":"verdict","findings":[` + strings.Repeat(finding+",", 19) + finding + `],"notes":"n"}`
	k := commit(t, r, request)
	before := r.Record
	if err := b.finishLeg(t.Context(), r, k, ending{Cause: byItself}); err != nil {
		t.Fatal(err)
	}
	if want := "judged r: 20 findings, 20 blocking"; r.Outcome != Concluded || r.Reason != want {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	// The process died before the run's record said so.
	before.State = Running
	if err := errors.Join(writeJSON(r.path("run.json"), before), os.Remove(r.path(verdictFile)), r.Close()); err != nil {
		t.Fatal(err)
	}
	if broken := b.pass(t); len(broken) > 0 {
		t.Fatal(broken)
	}
	b.ended(t, Concluded, 0)
	story, err := b.Root.Story("j")
	if err != nil || story.FullVerdict == nil || len(story.FullVerdict.Findings) != 20 || story.FullVerdict.Notes != "n" || len(story.FullVerdict.Judges[0].Commit) != 40 {
		t.Errorf("%+v, %v", story.FullVerdict, err)
	}
	if got := b.sched.names(); got != "" {
		t.Errorf("submitted: %s", got)
	}
}

// Each role may ask for its own request alone, and is told of its own. Refused often
// enough the run is stuck.
func TestRolesAreApart(t *testing.T) {
	const sleep = `{"type":"sleep","launches":[],"note":"x","submit":false}`
	const verdict = `{"type":"verdict","findings":[],"notes":""}`
	author := newBench(t)
	judge := newBench(t)
	for _, test := range []struct {
		b                    *bench
		r                    *Run
		request, cause, cure string
	}{
		{author, author.open(t), verdict, "this run is an author's", "syscall-sleep"},
		{judge, judgeOf(t, judge), sleep, "this run is a judge's", "syscall-conclude"},
	} {
		for n := range maxRefusals {
			k := commit(t, test.r, test.request)
			if err := test.b.finishLeg(t.Context(), test.r, k, ending{Cause: byItself}); err != nil {
				t.Fatal(err)
			}
			if n == maxRefusals-1 {
				break
			}
			prompt, err := os.ReadFile(test.r.legPath(n+1, "prompt.md"))
			if err != nil || !strings.Contains(string(prompt), test.cause) || !strings.Contains(string(prompt), test.cure) {
				t.Errorf("leg %d of %s is told %q, %v", n+1, test.r.ID, prompt, err)
			}
		}
		if test.r.Outcome != Stuck || !strings.Contains(test.r.Reason, test.cause) {
			t.Errorf("%s: %s: %s", test.r.ID, test.r.Outcome, test.r.Reason)
		}
		test.r.Close()
	}
}

// A judge that cannot be made leaves nothing behind, and nothing of another run's goes.
func TestJudgeThatCannotBeMade(t *testing.T) {
	b := newBench(t)
	judgeOf(t, b).Close()
	try := func(id string, judges ...string) error {
		n := NewRun{ID: id, Prompt: []byte("x"), Settings: Settings{
			Command: []string{"true"}, Sandbox: sandbox.None, LegTime: Duration{time.Minute}, CPUs: 1,
		}}
		for _, run := range judges {
			n.Judges = append(n.Judges, Judged{Run: run})
		}
		_, err := New(t.Context(), b.Root, n, time.Now(), slog.New(slog.DiscardHandler))
		return err
	}
	for name, err := range map[string]error{
		"of a run that is not there": try("x", "r", "nothing"),
		"of what is no run's name":   try("x", "../runs/r"),
		"of a judge":                 try("x", "j"),
		"of one run twice":           try("x", "r", "r"),
		"of a name that is taken":    try("j", "r"),
	} {
		if _, ok := errors.AsType[*SettingsError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Lstat(b.Root.join("workspaces", "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if _, err := os.Lstat(b.Root.join("workspaces", "j", "r", workDir)); err != nil {
		t.Error(err)
	}
	if err := try("x", "r"); err != nil {
		t.Error(err)
	}
}

// A record from before there were judges is an author's.
func TestRecordWithoutARole(t *testing.T) {
	b := newBench(t)
	raw, err := os.ReadFile(filepath.Join(b.Root.RunDir(b.id), "run.json"))
	if err != nil || strings.Contains(string(raw), "judges") || strings.Contains(string(raw), "verdict") {
		t.Errorf("an author's record speaks of judges: %s, %v", raw, err)
	}
	rec, err := loadRecord(b.Root.RunDir(b.id), b.id)
	if err != nil || rec.Role() != Author {
		t.Errorf("%s, %v", rec.Role(), err)
	}
}
