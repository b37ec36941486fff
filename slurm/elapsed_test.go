package slurm

import (
	"math"
	"testing"
	"time"
)

func TestParseElapsed(t *testing.T) {
	const h, m, s = time.Hour, time.Minute, time.Second
	for _, tt := range []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"0:00", 0, true},
		{"0:07", 7 * s, true},
		{"12:30", 12*m + 30*s, true},
		{"01:02:03", h + 2*m + 3*s, true},
		{"25:00:00", 25 * h, true},
		{"1-00", 24 * h, true},
		{"1-12", 36 * h, true},
		{"1-12:30", 36*h + 30*m, true},
		{"2-03:04:05", 51*h + 4*m + 5*s, true},
		{"365-00:00:00", 365 * 24 * h, true},
		{"90", 90 * m, true},
		{" 12:30\n", 12*m + 30*s, true},
		{"", 0, false},
		{"-", 0, false},
		{"1-", 0, false},
		{"-1:00", 0, false},
		{":", 0, false},
		{"1:", 0, false},
		{"1:2:3:4", 0, false},
		{"1-2:3:4:5", 0, false},
		{"1-2-3", 0, false},
		{"+1:00", 0, false},
		{"1:+1", 0, false},
		{"0x1:00", 0, false},
		{"1_0:00", 0, false},
		{"1:00.5", 0, false},
		{"UNLIMITED", 0, false},
		{"Partition_Limit", 0, false},
		{"NOT_SET", 0, false},
		{"INVALID", 0, false},
		// The longest span and what is past it, in the sum and in a part.
		{"106751-23:47:16", math.MaxInt64 / s * s, true},
		{"106751-23:47:17", 0, false},
		{"106752-00", 0, false},
		{"99999999999999999999:00", 0, false},
		{"9223372036854775807-9223372036854775807:00:00", 0, false},
	} {
		got, ok := ParseElapsed(tt.in)
		if got != tt.want || ok != tt.ok {
			t.Errorf("ParseElapsed(%q) = %v, %v; want %v, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFormatElapsed(t *testing.T) {
	const h, m, s = time.Hour, time.Minute, time.Second
	for in, want := range map[time.Duration]string{
		0:                   "0:00",
		-h:                  "0:00",
		999 * s / 1000:      "0:00",
		59*m + 59*s:         "59:59",
		h:                   "1:00:00",
		23*h + 59*m + 59*s:  "23:59:59",
		24 * h:              "1-00:00:00",
		51*h + 4*m + 5*s:    "2-03:04:05",
		math.MaxInt64 / 1:   "106751-23:47:16",
		time.Duration(-1):   "0:00",
		100 * 24 * h:        "100-00:00:00",
		90*m + 500*s/1000:   "1:30:00",
		time.Minute + s - 1: "1:00",
	} {
		if got := FormatElapsed(in); got != want {
			t.Errorf("FormatElapsed(%v) = %q, want %q", in, got, want)
		}
	}
}

// What is read is a span, and printing it and reading it again gives the same.
func FuzzParseElapsed(f *testing.F) {
	for _, s := range []string{"12:30", "2-03:04:05", "1-12", "90", "UNLIMITED", "106751-23:47:16", "9223372036854775807", "::", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := ParseElapsed(s)
		if !ok {
			if d != 0 {
				t.Errorf("ParseElapsed(%q) failed and returned %v", s, d)
			}
			return
		}
		if d < 0 || d%time.Second != 0 {
			t.Errorf("ParseElapsed(%q) = %v", s, d)
		}
		printed := FormatElapsed(d)
		if again, ok := ParseElapsed(printed); again != d || !ok {
			t.Errorf("ParseElapsed(%q) = %v, printed as %q, read as %v, %v", s, d, printed, again, ok)
		}
	})
}
