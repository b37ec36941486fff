package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if exit, mine := Child(os.Args[1:]); mine {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

func newLab(t testing.TB) *Lab {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("the yardstick needs a C compiler")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := run(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", bin+"/",
		"../../cmd/syscall-history", "../../cmd/syscall-status"); err != nil {
		t.Fatal(err)
	}
	l, err := NewLab(t.Context(), bin, self, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// report gives the median and the 99th percentile to benchstat.
func report(b *testing.B, times Times) {
	b.ReportMetric(float64(times.At(0.5).Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(times.At(0.99).Nanoseconds()), "p99-ns")
}

// rounds splits b.N into turns that no kernel takes for a flood.
func rounds(b *testing.B, measure func(n int) (Times, error)) {
	b.Helper()
	var all Times
	for left := b.N; left > 0; left -= 2000 {
		times, err := measure(min(left, 2000))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, times...)
	}
	report(b, all)
}

func BenchmarkQuestion(b *testing.B) {
	l := newLab(b)
	for _, place := range []struct{ name, dir string }{{"memory", l.Memory}, {"disk", l.Disk}} {
		b.Run(place.name+"/ours", func(b *testing.B) {
			rounds(b, func(n int) (Times, error) { return l.Ask(b.Context(), place.dir, n) })
		})
		b.Run(place.name+"/bare", func(b *testing.B) {
			rounds(b, func(n int) (Times, error) { return l.barePingPong(b.Context(), place.dir, n, 0) })
		})
	}
}

func BenchmarkProcess(b *testing.B) {
	l := newLab(b)
	for _, verb := range []string{"history", "status"} {
		b.Run(verb, func(b *testing.B) {
			rounds(b, func(n int) (Times, error) {
				wall, cpu, _, _, err := l.Process(b.Context(), verb, n)
				b.ReportMetric(float64(cpu.At(0.5).Nanoseconds()), "cpu-ns")
				return wall, err
			})
		})
	}
}

func BenchmarkTick(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(map[int]string{1000: "1000", 10_000: "10000"}[n], func(b *testing.B) {
			f, err := Parked(filepath.Join(b.TempDir(), "root"), n)
			if err != nil {
				b.Fatal(err)
			}
			var queries int
			for b.Loop() {
				if _, queries, err = f.Pass(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(queries), "queries")
		})
	}
}

// TestYardstickAndOurs: both sides of the comparison work, and answers are what
// was asked for.
func TestYardstickAndOurs(t *testing.T) {
	l := newLab(t)
	ours, bare, err := l.Question(t.Context(), l.Memory, 1, 20)
	if err != nil || len(ours) != 20 || len(bare) != 20 {
		t.Errorf("%d and %d rounds, %v", len(ours), len(bare), err)
	}
	polled, err := l.barePingPong(t.Context(), l.Memory, 3, 50*time.Millisecond)
	if err != nil || len(polled) != 3 || polled.At(1) > patience {
		t.Errorf("%v, %v", polled, err)
	}
	wall, _, empty, _, err := l.Process(t.Context(), "history", 2)
	if err != nil || len(wall) != 2 || len(empty) != 2 {
		t.Errorf("%v, %v, %v", wall, empty, err)
	}
}

// TestPassOverManyRuns: however many runs wait, the scheduler is asked for its
// queue once and for what is missing there once.
func TestPassOverManyRuns(t *testing.T) {
	f, err := Parked(filepath.Join(t.TempDir(), "root"), 500)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, queries, err := f.Pass(t.Context()); err != nil || queries != 2 {
			t.Errorf("%d queries, %v", queries, err)
		}
	}
}

func TestTimes(t *testing.T) {
	times := Times{5, 1, 4, 2, 3}
	for part, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := times.At(part); got != want {
			t.Errorf("at %v: %d, want %d", part, got, want)
		}
	}
	if got := Times(nil).At(0.5); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

func TestPackageOf(t *testing.T) {
	for symbol, want := range map[string]string{
		"runtime.mallocgc": "runtime",
		"github.com/outerloop-go/outerloop/internal/verbs.(*call).hint": "internal/verbs",
		"slices.SortFunc[go.shape.[]a/b.c,go.shape.int]":                "slices",
		"type:*encoding/json.Decoder":                                   "(type data)",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}

// TestRegressions: what is measured beyond its bound is named, the rest is not.
func TestRegressions(t *testing.T) {
	worse := Regressions([]Row{
		{What: "good", Value: 1, Target: 1.25},
		{What: "tolerable", Value: 1.8, Target: 1.25},
		{What: "bad", Value: 1.9, Target: 1.25},
		{What: "large", Value: 2.21, Target: 2.2, Regressed: 2.2},
	})
	if len(worse) != 2 {
		t.Error(worse)
	}
}
