package engine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// A run whose wake the scheduler refused had its jobs cancelled. Retried, it brings
// back what there is: what ran is not run again, nor recorded twice.
func TestRetryOfASleep(t *testing.T) {
	b := newBench(t)
	b.sched.faults[2] = refused // the wake
	if err := b.sleep(t, "one"); err != nil {
		t.Fatal(err)
	}
	b.at(time.Minute)
	b.pass(t)
	b.ended(t, Stuck, 1)
	b.sched.over = map[string]slurm.Outcome{"1": {State: slurm.Cancelled}}
	next, err := b.Retry(t.Context(), b.id)
	if err != nil || next != "leg 1 gets the results of sleep 1" {
		t.Fatalf("%q, %v", next, err)
	}
	if broken := b.pass(t); len(broken) > 0 {
		t.Fatal(broken)
	}
	if got := b.sched.names(); got != "r-launch-one r-wake-1" {
		t.Errorf("submitted: %s", got)
	}
	r := b.open(t)
	if begin, err := b.wake(t.Context(), r); !begin || err != nil {
		t.Fatalf("%t, %v", begin, err)
	}
	prompt, err := os.ReadFile(r.legPath(1, "prompt.md"))
	if err != nil || !strings.Contains(string(prompt), "### one: ") {
		t.Errorf("%v:\n%s", err, prompt)
	}
	if err := errors.Join(r.end(Stuck, time.Now(), "for the check"), r.Close()); err != nil {
		t.Fatal(err)
	}
	b.ended(t, Stuck, 1)
}

// A request that could not be carried out is carried out by the retry, and the author
// is not asked again for what it said already.
func TestRetryOfARequest(t *testing.T) {
	b := newBench(t)
	r := b.open(t)
	seals := r.sealPath()
	if err := errors.Join(os.WriteFile(seals, nil, 0o600), r.Close()); err != nil { // no repository can be made there
		t.Fatal(err)
	}
	why := b.sleep(t, "one")
	if why == nil {
		t.Fatal("sealed into a file")
	}
	r = b.open(t)
	r.State = Running
	if err := writeJSON(r.legPath(0, endedFile), ending{Cause: byItself}); err != nil {
		t.Fatal(err)
	}
	for range maxAttempts {
		if err := b.trouble(t.Context(), r, why); err != nil {
			t.Fatal(err)
		}
	}
	if want := "carrying out what leg 0 has asked for failed 3 times; the last time: "; !strings.HasPrefix(r.Reason, want) || r.Outcome != Stuck {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if err := errors.Join(r.Close(), os.Remove(seals)); err != nil {
		t.Fatal(err)
	}
	if next, err := b.Retry(t.Context(), b.id); err != nil || next != "what leg 0 has asked for is carried out" {
		t.Fatalf("%q, %v", next, err)
	}
	if broken := b.pass(t); len(broken) > 0 {
		t.Fatal(broken)
	}
	if got := b.sched.names(); got != "r-launch-one r-wake-1" {
		t.Errorf("submitted: %s", got)
	}
}

// What was ended for good stays so.
func TestRetryRefuses(t *testing.T) {
	for _, outcome := range []Outcome{Submitted, Accepted, Finished, Canceled} {
		b := newBench(t)
		r := b.open(t)
		if err := errors.Join(r.end(outcome, time.Now(), "it has"), r.Close()); err != nil {
			t.Fatal(err)
		}
		_, err := b.Retry(context.Background(), b.id)
		if _, ok := errors.AsType[*SettingsError](err); !ok {
			t.Errorf("%s: %v", outcome, err)
		}
		b.ended(t, outcome, 0)
	}
}
