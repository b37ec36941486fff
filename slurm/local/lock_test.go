//go:build unix

package local

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestLockIsExclusiveAndGivesUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("no more time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := lock(ctx, path); !errors.Is(err, cause) {
		t.Errorf("a second lock: %v, want %v", err, cause)
	}
	got := make(chan error, 1)
	go func() {
		unlock, err := lock(t.Context(), path)
		if err == nil {
			unlock()
		}
		got <- err
	}()
	unlock()
	// The one who gave up gets the lock in the end, and has to pass it on.
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// Counting without any other synchronization than the lock.
func TestLockHoldsAmongGoroutines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	inside := make(chan struct{}, 1)
	done := make(chan error)
	const n = 16
	for range n {
		go func() {
			unlock, err := lock(t.Context(), path)
			if err != nil {
				done <- err
				return
			}
			defer unlock()
			select {
			case inside <- struct{}{}:
				<-inside
				done <- nil
			default:
				done <- errors.New("two at a time")
			}
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
