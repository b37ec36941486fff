package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// day is as long as squeue(1) counts one: there are no leap seconds in a span.
const day = 24 * time.Hour

// Duration is a span of run time that may be unknown.
type Duration struct {
	time.Duration
	Known bool
}

// ParseElapsed reads a span as squeue(1) and sacct(1) print it: MM:SS,
// HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS, or minutes alone. The second result is
// false for words such as UNLIMITED, NOT_SET or INVALID, for anything else that
// is not a span, and for spans that a [time.Duration] cannot hold.
func ParseElapsed(s string) (time.Duration, bool) {
	days, clock, hasDays := strings.Cut(strings.TrimSpace(s), "-")
	if !hasDays {
		clock = days
	}
	fields := strings.Split(clock, ":")
	units, ok := clockUnits(len(fields), hasDays)
	if !ok {
		return 0, false
	}
	if hasDays {
		fields = slices.Insert(fields, 0, days)
		units = slices.Insert(units, 0, day)
	}
	var span time.Duration
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 63)
		if err != nil || time.Duration(n) > (math.MaxInt64-span)/units[i] {
			return 0, false
		}
		span += time.Duration(n) * units[i]
	}
	return span, true
}

// clockUnits says what the n fields of a clock stand for. After days the clock
// is cut at its right end ("1-12" is a day and twelve hours), without days it
// is cut at its left ("12:30" is twelve minutes and a half): sbatch(1), --time.
func clockUnits(n int, afterDays bool) ([]time.Duration, bool) {
	clock := []time.Duration{time.Hour, time.Minute, time.Second}
	switch {
	case n > len(clock):
		return nil, false
	case afterDays:
		return clock[:n], true
	case n == 1:
		return clock[1:2], true
	default:
		return clock[len(clock)-n:], true
	}
}

// FormatElapsed prints a span as squeue(1) does: M:SS, H:MM:SS or D-HH:MM:SS.
// Fractions of a second are dropped, and a negative span counts as none.
func FormatElapsed(d time.Duration) string {
	sec := max(int64(d/time.Second), 0)
	days, h, m, s := sec/86400, sec/3600%24, sec/60%60, sec%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, h, m, s)
	case h > 0:
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	default:
		return fmt.Sprintf("%d:%02d", m, s)
	}
}
