package metrics

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

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/ledger"
	"github.com/outerloop-go/outerloop/slurm"
)

// parse reads the text format strictly, as the exposition formats' page of the
// Prometheus documentation has it: every family once, its HELP, then its TYPE, then all
// of its samples, each once; histograms whole and cumulative.
func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	samples := make(map[string]float64)
	var family, kind string
	seen := make(map[string]bool)
	if !strings.HasSuffix(text, "\n") {
		t.Fatal("the last line has no end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP "):
			family, kind = words[2], ""
			if seen[family] || len(words) < 4 {
				t.Fatalf("%q: a second help, or none", line)
			}
			seen[family] = true
		case strings.HasPrefix(line, "# TYPE "):
			if words[2] != family || kind != "" || !slices.Contains([]string{"counter", "gauge", "histogram"}, words[3]) {
				t.Fatalf("%q is not the type of %s", line, family)
			}
			kind = words[3]
		default:
			name, value, ok := strings.Cut(line, " ")
			v, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil {
				t.Fatalf("%q is no sample", line)
			}
			if _, again := samples[name]; again {
				t.Fatalf("%q comes twice", name)
			}
			bare, labels, labeled := strings.Cut(name, "{")
			if labeled && (!strings.HasSuffix(labels, `"}`) || strings.Count(labels, `"`) != 2) {
				t.Fatalf("%q has labels that are none", name)
			}
			if kind == "histogram" {
				bare = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(bare, "_bucket"), "_sum"), "_count")
			}
			if bare != family || kind == "" || kind == "counter" && !strings.HasSuffix(bare, "_total") {
				t.Fatalf("%q does not belong under %s, a %s", line, family, kind)
			}
			samples[name] = v
		}
	}
	return samples
}

func at(minute int) time.Time {
	return time.Date(2026, 12, 1, 12, minute, 0, 0, time.UTC)
}

func storyOf(jobs ...engine.JobStory) *engine.Story {
	return &engine.Story{
		Status:   engine.Status{Run: "a", State: engine.Parked},
		Legs:     []engine.LegStory{{Answers: map[string]engine.Answers{"queue": {Count: 2, Failed: 1, Seconds: 0.5}}}},
		Launches: []engine.LaunchStory{{Submitted: ledger.Submitted{Name: "l", At: at(0)}, Jobs: jobs}},
	}
}

func TestText(t *testing.T) {
	zero, one := 0, 1
	k := &kept{Runs: map[string]*contribution{"a": {}}, Scheduler: map[string]Queries{"queue": {3, 1, 2.5}}}
	state := k.Runs["a"].add(storyOf(
		engine.JobStory{State: "COMPLETED", ExitCode: &zero, Began: at(1), Ended: at(3)},
		engine.JobStory{State: "FAILED", ExitCode: &one, Began: at(2), Ended: at(12)},
		engine.JobStory{State: "TIMEOUT"},
	))
	got := parse(t, string(k.text(map[string]int{state: 1}, at(30))))
	for name, want := range map[string]float64{
		`outerloop_runs{state="parked"}`:                          1,
		`outerloop_runs{state="submitted"}`:                       0,
		`outerloop_launches_submitted_total`:                      1,
		`outerloop_launches_total{outcome="failed"}`:              1,
		`outerloop_jobs_total{outcome="done"}`:                    1,
		`outerloop_jobs_total{outcome="timeout"}`:                 1,
		`outerloop_job_queue_wait_seconds_bucket{le="10"}`:        0,
		`outerloop_job_queue_wait_seconds_bucket{le="60"}`:        1,
		`outerloop_job_queue_wait_seconds_bucket{le="+Inf"}`:      2,
		`outerloop_job_queue_wait_seconds_sum`:                    180,
		`outerloop_job_run_seconds_sum`:                           720,
		`outerloop_job_run_seconds_count`:                         2,
		`outerloop_answers_total{verb="queue"}`:                   2,
		`outerloop_answers_failed_total{verb="queue"}`:            1,
		`outerloop_scheduler_queries_total{query="queue"}`:        3,
		`outerloop_scheduler_queries_failed_total{query="queue"}`: 1,
		`outerloop_scheduler_query_seconds_total{query="queue"}`:  2.5,
		`outerloop_pass_timestamp_seconds`:                        float64(at(30).Unix()),
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, not %v", name, v, want)
		}
	}
}

// What a run has contributed stays when its files are pruned.
func TestCountersNeverFall(t *testing.T) {
	zero := 0
	c := &contribution{}
	c.add(storyOf(engine.JobStory{State: "COMPLETED", ExitCode: &zero, Began: at(1), Ended: at(3)}))
	before := *c
	c.add(&engine.Story{Status: engine.Status{Run: "a", State: engine.Ended, Outcome: engine.Finished}})
	if c.Submitted != 1 || c.Jobs["done"] != 1 || c.Legs != 1 || c.Wait.Count != before.Wait.Count || c.Run.Seconds != before.Run.Seconds ||
		c.Answers["queue"].Count != 2 || c.Ended != "finished" {
		t.Errorf("of %+v there is left %+v", before, *c)
	}
}

// Many processes add what each has asked, and nothing is lost.
func TestCollectAtOnce(t *testing.T) {
	root, err := engine.CreateRoot(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	const n = 8
	for range n {
		all.Go(func() {
			if _, err := Collect(t.Context(), root, at(0), map[string]Queries{"queue": {Asked: 1, Seconds: 1}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text, err := Collect(t.Context(), root, at(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, string(text))[`outerloop_scheduler_queries_total{query="queue"}`]; got != n {
		t.Errorf("%v queries are counted, not %d", got, n)
	}
}

// A file that cannot be read is not begun anew: counters would fall.
func TestBrokenFileIsLeftAlone(t *testing.T) {
	root, err := engine.CreateRoot(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root.Path(), keptFile)
	for _, content := range []string{"{", `{"version":2}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Collect(t.Context(), root, at(0), nil); err == nil {
			t.Errorf("%s was taken", content)
		}
		if raw, _ := os.ReadFile(path); string(raw) != content {
			t.Errorf("%s became %s", content, raw)
		}
	}
}

type failing struct{ slurm.Backend }

func (failing) Queue(context.Context) ([]slurm.Row, error) { return nil, errors.New("no answer") }
func (failing) Nodes(context.Context, string) (map[string]int, error) {
	return nil, fmt.Errorf("local: %w", slurm.ErrUnsupported)
}

func (failing) Submit(context.Context, slurm.JobSpec) (string, error) {
	return "", &slurm.RefusedError{Job: "j", Reason: "no"}
}

func TestCounterKnowsAnswersFromFailures(t *testing.T) {
	c := &Counter{Backend: failing{}}
	c.Queue(t.Context())
	c.Nodes(t.Context(), "")
	c.Submit(t.Context(), slurm.JobSpec{})
	c.Return(c.Fresh())
	fresh := c.Fresh()
	for method, failed := range map[string]int{"queue": 1, "nodes": 0, "submit": 0} {
		if q := fresh[method]; q.Asked != 1 || q.Failed != failed {
			t.Errorf("%s is %+v, of which %d should have failed", method, q, failed)
		}
	}
	if again := c.Fresh(); len(again) != 0 {
		t.Errorf("%v is given twice", again)
	}
}
