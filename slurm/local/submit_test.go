//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

func TestTokenIsSubmittedOnce(t *testing.T) {
	r := newRig(t)
	backends := []*Backend{r.Backend, r.open(), r.open(), r.open()}
	const n = 20
	ids := make([]string, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			id, err := backends[i%len(backends)].Submit(t.Context(), r.script("echo ran >>ran", func(s *slurm.JobSpec) { s.Token = "the same" }))
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	group.Wait()
	slices.Sort(ids)
	if ids[0] != "1" || ids[n-1] != "1" {
		t.Errorf("ids are %q, want 1 for all", ids)
	}
	r.wait("1", slurm.Completed)
	// The token is known for as long as the job is.
	id := r.submit("echo ran >>ran", func(s *slurm.JobSpec) { s.Token = "the same" })
	found, err := r.Find(t.Context(), "the same")
	if id != "1" || found != "1" || err != nil {
		t.Errorf("submitted again as %q, found as %q, %v; want 1", id, found, err)
	}
	for _, token := range []string{"", "another"} {
		if found, err := r.Find(t.Context(), token); found != "" || err != nil {
			t.Errorf("Find(%q) is %q, %v; want none", token, found, err)
		}
	}
	if got := r.lines("ran"); len(got) != 1 {
		t.Errorf("the command ran %d times, want once", len(got))
	}
}

func TestJobsWithoutATokenAreAllSubmitted(t *testing.T) {
	r := newRig(t)
	const n = 8
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if _, err := r.Submit(t.Context(), r.script("echo $OUTERLOOP_JOB_ID >>ran")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range n {
		r.wait(strconv.Itoa(i+1), slurm.Completed)
	}
	if got := r.lines("ran"); len(got) != n || len(slices.Compact(slices.Sorted(slices.Values(got)))) != n {
		t.Errorf("these ran: %q", got)
	}
}

func TestRefusals(t *testing.T) {
	r := newRig(t, func(o *Options) { o.GPUs = 1 })
	for _, tt := range []struct {
		name   string
		change func(*slurm.JobSpec)
		says   []string
	}{
		{"no name", func(s *slurm.JobSpec) { s.Name = "" }, []string{"no name"}},
		{"too many CPUs", func(s *slurm.JobSpec) { s.CPUs = 3 }, []string{"3 CPUs", "at most 2"}},
		{"too many GPUs", func(s *slurm.JobSpec) { s.GPUs = 2 }, []string{"2 GPUs", "at most 1"}},
		{"too many tasks", func(s *slurm.JobSpec) { s.Array = maxArray + 1 }, []string{"10001 tasks", "at most 10000"}},
		{"a relative directory", func(s *slurm.JobSpec) { s.Dir = "here" }, []string{`"here"`, "absolute"}},
		{"a dependency that is none", func(s *slurm.JobSpec) { s.After = []string{"1"} }, []string{`"1"`, "never submitted"}},
		{"a dependency that is no id", func(s *slurm.JobSpec) { s.After = []string{"01"} }, []string{`"01"`}},
		{"bytes that are no text", func(s *slurm.JobSpec) { s.Env = []string{"A=secret\xff"} }, []string{"environment", "UTF-8"}},
		{"a zero byte", func(s *slurm.JobSpec) { s.Command = []string{"a\x00b"} }, []string{"command", "zero byte"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := r.Submit(t.Context(), r.script("exit 0", tt.change))
			var refused *slurm.RefusedError
			if !errors.As(err, &refused) || id != "" {
				t.Fatalf("got %q, %v; want a refusal", id, err)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q gives away what is in the environment", err)
			}
		})
	}
	if got := r.submit("exit 0"); got != "1" {
		t.Errorf("the first job is %s, want 1: refusals use up no id", got)
	}
}

// A call that has to wait for the lock ends with its context, and has done nothing.
func TestCallsEndWithTheirContext(t *testing.T) {
	r := newRig(t)
	unlock, err := lock(t.Context(), r.store.path("lock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for name, call := range map[string]func() error{
		"Submit":   func() error { _, err := r.Submit(ctx, r.script("exit 0")); return err },
		"Find":     func() error { _, err := r.Find(ctx, "tok"); return err },
		"Queue":    func() error { _, err := r.Queue(ctx); return err },
		"Outcomes": func() error { _, err := r.Outcomes(ctx, []string{"1"}); return err },
		"Cancel":   func() error { return r.Cancel(ctx, "1") },
	} {
		var refused *slurm.RefusedError
		if err := call(); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &refused) {
			t.Errorf("%s: %v, want the end of the context", name, err)
		}
	}
	unlock()
	if got := r.submit("exit 0"); got != "1" {
		t.Errorf("the first job is %s, want 1", got)
	}
}

func TestUnknownIDs(t *testing.T) {
	r := newRig(t)
	id := r.submit("exit 0")
	sweep := r.submit("exit 0", func(s *slurm.JobSpec) { s.Array = 1 })
	r.wait(sweep, slurm.Completed)
	r.wait(id, slurm.Completed)
	got, err := r.Outcomes(t.Context(), []string{"", "0", "77", "x", id + "_0", sweep + "_1", "01", "-1", "../1", sweep + "_0"})
	if err != nil || len(got) != 1 || got[sweep+"_0"].State != slurm.Completed {
		t.Errorf("outcomes are %v, %v; want that of %s_0 only", got, err, sweep)
	}
}

func TestOldJobsAreForgotten(t *testing.T) {
	r := newRig(t)
	token := func(i int) string { return "token " + strconv.Itoa(i) }
	// So many that the next submission looks for old ones.
	const n = (keepJobs/forgetEvery+1)*forgetEvery - 1
	const kept = n - keepJobs + 1 // the oldest of the newest thousand
	for i := 1; i <= n; i++ {
		dir := r.store.endedDir(i)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		record := fmt.Sprintf(`{"id":%d,"spec":{"name":"x","token":%q,"command":["x"]},"walltime_ns":1,"shepherd":["x"],"tasks":[{"state":"COMPLETED"}]}`, i, token(i))
		if err := os.WriteFile(filepath.Join(dir, "job.json"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strconv.Itoa(i), r.store.tokenPath(token(i))); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-keepFor - time.Hour)
	for _, i := range []int{1, kept, n} {
		if err := os.Chtimes(r.store.endedDir(i), old, old); err != nil {
			t.Fatal(err)
		}
	}
	// The counter is lost, and has to be found again from what is there.
	if got := r.submit("exit 0", after("1")); got != strconv.Itoa(n+1) {
		t.Errorf("the new id is %s, want %d", got, n+1)
	}
	for i, known := range map[int]bool{1: false, 2: true, kept: true, n: true} {
		if got := r.look(strconv.Itoa(i)).State != ""; got != known {
			t.Errorf("job %d is known: %v, want %v", i, got, known)
		}
		_, err := os.Lstat(r.store.tokenPath(token(i)))
		if got := err == nil; got != known {
			t.Errorf("the token of job %d is there: %v, want %v", i, got, known)
		}
	}
}

func TestOpen(t *testing.T) {
	for name, opt := range map[string]Options{
		"no directory":        {Shepherd: []string{"/bin/true"}},
		"no shepherd":         {Dir: t.TempDir()},
		"a relative shepherd": {Dir: t.TempDir(), Shepherd: []string{"shepherd"}},
		"negative CPUs":       {Dir: t.TempDir(), Shepherd: []string{"/bin/true"}, CPUs: -1},
		"a file":              {Dir: "/dev/null", Shepherd: []string{"/bin/true"}},
	} {
		if _, err := Open(opt); err == nil {
			t.Errorf("Open with %s succeeded", name)
		}
	}
	r := newRig(t)
	for _, dir := range []string{"", "live", "ended", "tokens"} {
		if info, err := os.Stat(r.store.path(dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want mode 0700", dir, info, err)
		}
	}
	if _, err := r.Nodes(t.Context(), "x"); !errors.Is(err, slurm.ErrUnsupported) {
		t.Errorf("Nodes: %v", err)
	}
}
