package dirfd_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// waiting returns when Wait has; until is so far away that only an event or
// the context ends it.
func waiting(ctx context.Context, t *testing.T, w *dirfd.Waiter, name string) {
	t.Helper()
	far := time.Now().Add(time.Minute)
	if err := w.Wait(ctx, name, far); err != nil {
		t.Fatal(err)
	}
	if !time.Now().Before(far) {
		t.Errorf("no event for %s", name)
	}
}

func TestWaiter(t *testing.T) {
	d, path := open(t)
	w, err := dirfd.NewWaiter(d)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	// What happens before Wait is not missed, and other names do not hide it.
	for i := range 300 {
		if err := d.Publish(fmt.Sprint("other", i), nil, dirfd.Volatile); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Publish("queue-done", nil, dirfd.Volatile); err != nil {
		t.Fatal(err)
	}
	waiting(t.Context(), t, w, "queue-done")

	// A peer may write in place.
	if err := os.WriteFile(path+"/queue-done", []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	waiting(t.Context(), t, w, "queue-done")

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	waiting(ctx, t, w, "never")

	// A context that has ended leaves no deadline behind for the next wait.
	if err := d.Publish("queue-done", nil, dirfd.Volatile); err != nil {
		t.Fatal(err)
	}
	waiting(t.Context(), t, w, "queue-done")

	if err := w.Wait(t.Context(), "never", time.Now().Add(time.Millisecond)); err != nil {
		t.Errorf("the time is over: %v", err)
	}
}
