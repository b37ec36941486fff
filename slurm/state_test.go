package slurm

import (
	"strings"
	"testing"
)

func TestParseState(t *testing.T) {
	for in, want := range map[string]State{
		"PENDING":              Pending,
		" RUNNING\n":           Running,
		"CANCELLED by 1000":    Cancelled,
		"CANCELLED+":           Cancelled,
		"OUT_OF_MEMORY":        OutOfMemory,
		"OUT_OF_ME+":           "OUT_OF_ME",
		"NODE_FAIL":            NodeFail,
		"SOMETHING_NEW":        "SOMETHING_NEW",
		"completed":            "completed",
		"":                     "",
		"RUNNING by\tsomebody": Running,
		"CANCELLED\tby 1000":   Cancelled,
	} {
		if got := ParseState(in); got != want {
			t.Errorf("ParseState(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, s := range []State{Completed, Failed, Cancelled, Timeout, NodeFail, OutOfMemory, "BOOT_FAIL", "DEADLINE", "PREEMPTED", "REVOKED"} {
		if !s.Terminal() {
			t.Errorf("%s is not terminal", s)
		}
	}
	// Slurm's other states, and what is none: nothing unknown ends a run.
	for _, s := range []State{
		Pending, Running, Completing, "CONFIGURING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD",
		"RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SPECIAL_EXIT", "RESV_DEL_HOLD", "", "UNKNOWN", "completed", "OUT_OF_ME",
	} {
		if s.Terminal() {
			t.Errorf("%q is terminal", s)
		}
	}
}

// A state is one word, and reads as itself.
func FuzzParseState(f *testing.F) {
	for _, s := range []string{"RUNNING", "CANCELLED by 1000", "CANCELLED+", " + ", "A++", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := ParseState(in)
		if strings.ContainsAny(string(s), " \t\r\n") || strings.HasSuffix(string(s), "+") {
			t.Errorf("ParseState(%q) = %q", in, s)
		}
		if again := ParseState(string(s)); again != s {
			t.Errorf("ParseState(%q) = %q, read again as %q", in, s, again)
		}
		if s.Terminal() && !strings.Contains(in, string(s)) {
			t.Errorf("ParseState(%q) = %q, which it does not say", in, s)
		}
	})
}
