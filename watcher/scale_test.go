package watcher

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// BenchmarkManyChannels asks in one of 10,000 channels of one process, a random
// one each time, and reports what the idle ones cost. Each channel holds a
// descriptor, so a low limit on open files makes it fewer.
func BenchmarkManyChannels(b *testing.B) {
	var limit syscall.Rlimit
	mustDo(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	channels := min(10_000, int(limit.Cur-200))
	root := b.TempDir()
	w := newWatcher(b, Options{})
	before := memory()
	watches := make([]*Watch, channels)
	began := time.Now()
	for i := range watches {
		workspace := fmt.Sprintf("%s/%d", root, i)
		mustDo(b, os.Mkdir(workspace, 0o777))
		k, err := channel.CreateKernel(workspace)
		mustDo(b, err)
		defer k.Close()
		watches[i], err = w.Add(k, map[string]Handler{"a": text("a"), "b": text("b")})
		mustDo(b, err)
	}
	for _, s := range watches {
		trust(b, s)
	}
	started, used, goroutines := time.Since(began), memory()-before, runtime.NumGoroutine()
	var waits []time.Duration
	for b.Loop() {
		s, err := channel.FindSession(fmt.Sprintf("%s/%d", root, rand.IntN(channels)), "")
		mustDo(b, err)
		asked := time.Now()
		_, err = s.Ask(context.Background(), "a", patience)
		mustDo(b, err)
		waits = append(waits, time.Since(asked))
		s.Close()
	}
	b.ReportMetric(float64(channels), "channels")
	b.ReportMetric(float64(started.Milliseconds()), "start-ms")
	b.ReportMetric(float64(used)/float64(channels), "bytes/channel")
	b.ReportMetric(float64(goroutines), "goroutines")
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
}

// memory is what the heap and the stacks hold.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
