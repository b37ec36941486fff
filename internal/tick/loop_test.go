package tick

import (
	"testing"
	"time"
)

// What takes long is done seldomer, so that a loop over many runs has time for them.
func TestShowNext(t *testing.T) {
	began := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for took, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 100 * time.Millisecond: 5 * time.Second, 2 * time.Second: 40 * time.Second,
	} {
		if got := showNext(began, began.Add(took)).Sub(began); got != want {
			t.Errorf("after %s it is written again %s later, not %s", took, got, want)
		}
	}
}
