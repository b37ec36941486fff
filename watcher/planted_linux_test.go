package watcher

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestPlanted: what stands in the way of an answer delays it and does no more.
func TestPlanted(t *testing.T) {
	var log logBuffer
	w := newWatcher(t, Options{Log: log.logger()})
	p := newPeer(t)
	var calls atomic.Int32
	mustAdd(t, w, p, map[string]Handler{
		"a": func(context.Context) (any, error) { calls.Add(1); return "a", nil },
		"b": text("b"),
	})
	// A directory in the answer's place would be moved aside; a mount point stays.
	mustDo(t, os.Mkdir(p.path("a.json"), 0o777))
	if err := syscall.Mount("none", p.path("a.json"), "tmpfs", 0, "size=4k"); errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount")
	} else {
		mustDo(t, err)
	}
	t.Cleanup(func() { syscall.Unmount(p.path("a.json"), syscall.MNT_DETACH) })
	for range 50 {
		p.leave("a")
	}
	p.ask("b")
	within(t, "the failure is in the log", func() bool { return strings.Contains(log.String(), "could not be answered") })
	if n := calls.Load(); n > 5 {
		t.Errorf("%d calls while the answer could not be written", n)
	}
	mustDo(t, syscall.Unmount(p.path("a.json"), 0))
	p.ask("a")
	if n := strings.Count(log.String(), "could not be answered"); n > 2 {
		t.Errorf("%d lines in the log:\n%s", n, log.String())
	}
}
