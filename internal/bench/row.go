package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Row is one line of the table.
type Row struct {
	What      string
	Ours      string
	Yardstick string // "" where the target is a figure of its own
	Value     float64
	Target    float64 // Value at most
	Unit      string  // of both; "×" for a ratio to the yardstick
	Detail    string  // one line more, for people

	// Regressed is how large Value may be before a run in CI fails: half above
	// the target, and more where a shared machine's own weather is larger.
	Regressed float64
}

// Met says whether the target is met.
func (r Row) Met() bool { return r.Value <= r.Target }

// tolerated is Regressed or its default.
func (r Row) tolerated() float64 {
	if r.Regressed > 0 {
		return r.Regressed
	}
	return 1.5 * r.Target
}

// Print writes the table.
func Print(w io.Writer, rows []Row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tours\tyardstick\tmeasured\ttarget\tmet")
	for _, r := range rows {
		met := "yes"
		if !r.Met() {
			met = "NO"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g %s\t%.4g %s\t%s\n", r.What, r.Ours, r.Yardstick, r.Value, r.Unit, r.Target, r.Unit, met)
	}
	t.Flush()
	for _, r := range rows {
		if r.Detail != "" {
			fmt.Fprintf(w, "\n%s: %s", r.What, r.Detail)
		}
	}
	fmt.Fprintln(w)
}

// Regressions names the rows that are worse than a run may be.
func Regressions(rows []Row) (worse []string) {
	for _, r := range rows {
		if r.Value > r.tolerated() {
			worse = append(worse, fmt.Sprintf("%s: %.4g %s, at most %.4g", r.What, r.Value, r.Unit, r.tolerated()))
		}
	}
	return worse
}

// Times are measurements of one thing.
type Times []time.Duration

// At is the time that this part of all measurements is not above: 0.5 is the
// median.
func (t Times) At(part float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t))
	return s[min(int(part*float64(len(s))), len(s)-1)]
}

func (t Times) String() string {
	return fmt.Sprintf("%s (p99 %s)", short(t.At(0.5)), short(t.At(0.99)))
}

// short writes a time with three digits.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
