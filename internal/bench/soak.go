package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Soak asks for so long at random in many channels beside one that floods, and
// reports what the answers took and what the kernel has at the end. An error is
// a question without its answer, or a descriptor that the kernel did not have
// before.
func (l *Lab) Soak(ctx context.Context, channels, askers int, d time.Duration) (report string, err error) {
	f, err := l.fleet(ctx, channels)
	if err != nil {
		return "", err
	}
	defer f.end()
	pid := f.cmd.Process.Pid
	before, err1 := descriptors(pid)
	memoryBefore, err2 := resident(pid)
	cpuBefore, err3 := f.cpu()
	flooder, err4 := l.start(ctx, "flood", workspace(f.dir, f.n-1), 1)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return "", err
	}
	times, asking := f.askTogether(ctx, askers, d)
	cpu, err1 := f.cpu()
	memory, err2 := resident(pid)
	err3 = flooder.end()
	if err := errors.Join(asking, err1, err2, err3); err != nil {
		return "", err
	}
	// A flood costs the watch for up to 16 s, after which it is placed anew.
	after := -1
	for deadline := time.Now().Add(2 * patience); after != before && time.Now().Before(deadline); time.Sleep(time.Second) {
		if after, err = descriptors(pid); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d channels, %d asking for %v beside one that floods\n", f.n, askers, d)
	fmt.Fprintf(&b, "answers      %d: p50 %s, p99 %s, worst %s\n", len(times), short(times.At(0.5)), short(times.At(0.99)), short(times.At(1)))
	fmt.Fprintf(&b, "kernel CPU   %.1f %% of a core\n", 100*float64(cpu-cpuBefore)/float64(d))
	fmt.Fprintf(&b, "memory       %.1f MB before, %.1f MB at the end\n", float64(memoryBefore)/1e6, float64(memory)/1e6)
	fmt.Fprintf(&b, "descriptors  %d before, %d at the end\n", before, after)
	if before != after {
		return b.String(), fmt.Errorf("the kernel had %d open files and has %d", before, after)
	}
	return b.String(), nil
}

// askTogether has so many goroutines ask, each at random moments, a second apart
// in the mean, in random channels but the last.
func (f *fleet) askTogether(ctx context.Context, askers int, d time.Duration) (Times, error) {
	end := time.Now().Add(d)
	var mu sync.Mutex
	var all Times
	var errs []error
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for time.Sleep(rand.N(time.Second)); time.Now().Before(end); time.Sleep(rand.N(2 * time.Second)) {
				t, err := askIn(workspace(f.dir, rand.IntN(f.n-1)), 1)
				mu.Lock()
				all = append(all, t...)
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}
