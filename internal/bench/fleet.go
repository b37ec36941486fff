package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// fleet is one kernel process of many channels.
type fleet struct {
	*process
	dir string
	n   int
}

func (l *Lab) fleet(ctx context.Context, n int) (*fleet, error) {
	n, err := channelsUpTo(n)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(l.Memory, "fleet-")
	if err != nil {
		return nil, err
	}
	p, err := l.start(ctx, "kernel", dir, n)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f := &fleet{p, dir, n}
	if err := f.settle(ctx); err != nil {
		return nil, errors.Join(err, f.end())
	}
	return f, nil
}

func (f *fleet) end() error { return errors.Join(f.process.end(), os.RemoveAll(f.dir)) }

// settle waits until the watches are placed and probed, and the kernel is at rest.
func (f *fleet) settle(ctx context.Context) error {
	if _, err := askIn(workspace(f.dir, f.n-1), 1); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		before, err := wakeUps(f.cmd.Process.Pid)
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		after, err := wakeUps(f.cmd.Process.Pid)
		if err != nil {
			return err
		}
		if before == after {
			return nil
		}
	}
	return errors.New("the kernel does not come to rest")
}

// rest is what a fleet does while nobody asks for so long.
func (f *fleet) rest(d time.Duration) (wakes int64, cpu time.Duration, err error) {
	before, err1 := wakeUps(f.cmd.Process.Pid)
	used, err2 := f.cpu()
	time.Sleep(d)
	after, err3 := wakeUps(f.cmd.Process.Pid)
	usedAfter, err4 := f.cpu()
	return after - before, usedAfter - used, errors.Join(err1, err2, err3, err4)
}

// askAnywhere asks once in a random channel, so many times.
func (f *fleet) askAnywhere(ctx context.Context, rounds int) (times Times, err error) {
	for range rounds {
		t, err := askIn(workspace(f.dir, rand.IntN(f.n)), 1)
		if err != nil {
			return nil, err
		}
		times = append(times, t...)
	}
	return times, nil
}

func (l *Lab) idleRows(ctx context.Context, _ Options) ([]Row, error) {
	f, err := l.fleet(ctx, 100)
	if err != nil {
		return nil, err
	}
	defer f.end()
	const window = 10 * time.Second
	wakes, _, err := f.rest(window)
	if err != nil {
		return nil, err
	}
	return []Row{{
		What: "idle watcher of 100 channels, 10 s", Ours: fmt.Sprint(wakes, " wake-ups"),
		Value: float64(wakes), Target: 0, Unit: "wake-ups",
	}}, nil
}

func (l *Lab) manyRows(ctx context.Context, o Options) ([]Row, error) {
	rounds := 200 * o.turns()
	one, err := l.fleet(ctx, 1)
	if err != nil {
		return nil, err
	}
	alone, err := one.askAnywhere(ctx, rounds)
	if err := errors.Join(err, one.end()); err != nil {
		return nil, err
	}
	f, err := l.fleet(ctx, 10_000)
	if err != nil {
		return nil, err
	}
	defer f.end()
	memory, err := resident(f.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	wakes, cpu, err := f.rest(5 * time.Second)
	if err != nil {
		return nil, err
	}
	times, err := f.askAnywhere(ctx, rounds)
	if err != nil {
		return nil, err
	}
	return []Row{
		{What: fmt.Sprint(f.n, " idle channels, memory"), Ours: fmt.Sprintf("%.1f MB", float64(memory)/1e6), Value: float64(memory) / 1e6, Target: 100, Unit: "MB"},
		{
			What: fmt.Sprint(f.n, " idle channels, CPU"), Ours: fmt.Sprintf("%v and %d wake-ups in 5 s", cpu, wakes),
			Value: 100 * cpu.Seconds() / 5, Target: 0, Regressed: 1, Unit: "% of a core",
		},
		{
			What: fmt.Sprint("answer in one of ", f.n, ", p99"), Ours: times.String(), Yardstick: "in one of one " + alone.String(),
			Value: milliseconds(times.At(0.99)), Target: 5, Unit: "ms",
		},
	}, nil
}

func (l *Lab) floodRows(ctx context.Context, o Options) ([]Row, error) {
	f, err := l.fleet(ctx, 2)
	if err != nil {
		return nil, err
	}
	defer f.end()
	rounds := 60 * o.turns()
	calm, err := f.askQuietly(ctx, rounds)
	if err != nil {
		return nil, err
	}
	flooder, err := l.start(ctx, "flood", workspace(f.dir, 1), 1)
	if err != nil {
		return nil, err
	}
	defer flooder.end()
	used, err := f.cpu()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	loud, err := f.askQuietly(ctx, rounds)
	if err != nil {
		return nil, err
	}
	after, err := f.cpu()
	if err != nil {
		return nil, err
	}
	share := 100 * float64(after-used) / float64(time.Since(began))
	return []Row{
		{What: "a flood, kernel's CPU", Ours: fmt.Sprintf("%.1f %% of a core", share), Value: share, Target: 20, Unit: "% of a core"},
		{
			What: "answer beside a flood, median", Ours: loud.String(), Yardstick: "without " + calm.String(),
			Value: milliseconds(loud.At(0.5)), Target: 5, Unit: "ms",
		},
	}, nil
}

// askQuietly asks in the first channel a hundred times a second.
func (f *fleet) askQuietly(ctx context.Context, rounds int) (times Times, err error) {
	for range rounds {
		t, err := askIn(workspace(f.dir, 0), 1)
		if err != nil {
			return nil, err
		}
		times = append(times, t...)
		time.Sleep(10 * time.Millisecond)
	}
	return times, nil
}
