package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"

	"github.com/outerloop-go/outerloop/slurm"
)

// Options say where a [Backend] keeps its jobs and what it has to hand out.
type Options struct {
	// Dir is the state directory. It is created with mode 0700 where it is
	// missing, and it belongs to this package alone.
	Dir string

	// Shepherd is the program, by its absolute path, and the first arguments of
	// a call that ends up in [Shepherd] with the arguments that follow. It is
	// kept with each job, so that the file must stay there for as long as jobs
	// that were submitted with it are in the queue.
	Shepherd []string

	// CPUs is the number of slots, 0 for one for each CPU of the machine. With
	// GPUs it is kept in Dir: the latest Open decides for everybody.
	CPUs int

	// GPUs is the number of GPUs, with the indices from 0. -1 counts those that
	// `nvidia-smi -L` lists, and none where there is no such program.
	GPUs int

	// Grace is the time from SIGTERM to SIGKILL for a task that is out of time
	// or canceled, 0 for 10 seconds.
	Grace time.Duration

	Now func() time.Time // nil for time.Now
	Log *slog.Logger     // nil to discard
}

// Backend runs jobs on this machine. It is a [slurm.Backend], may be used by any
// number of goroutines, and has nothing to close: jobs go on without it.
type Backend struct {
	store    *store
	shepherd []string
	grace    time.Duration
	minute   time.Duration // shorter in tests, which cannot wait for a walltime
}

var _ slurm.Backend = (*Backend)(nil)

// Open returns the backend of a state directory, with the jobs that are in it. It
// makes one visit, so that an error tells early of a directory or a machine that
// cannot be used.
func Open(opt Options) (*Backend, error) {
	b, c, err := opt.backend()
	if err != nil {
		return nil, fmt.Errorf("local backend: %w", err)
	}
	if err := b.store.open(c); err != nil {
		return nil, fmt.Errorf("local backend in %s: %w", b.store.dir, err)
	}
	return b, nil
}

// backend fills in what was left to choose.
func (opt Options) backend() (*Backend, capacity, error) {
	none := capacity{}
	if opt.Dir == "" {
		return nil, none, errors.New("no state directory is given")
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, none, err
	}
	// Shepherds are started in another working directory.
	if len(opt.Shepherd) == 0 || !filepath.IsAbs(opt.Shepherd[0]) {
		return nil, none, fmt.Errorf("the shepherd %q is not a program with an absolute path", opt.Shepherd)
	}
	if opt.CPUs < 0 || opt.GPUs < -1 || opt.Grace < 0 {
		return nil, none, fmt.Errorf("%d CPUs, %d GPUs and a grace of %v are no amounts", opt.CPUs, opt.GPUs, opt.Grace)
	}
	b := &Backend{
		store:    &store{dir: dir, log: opt.Log, now: opt.Now},
		shepherd: opt.Shepherd,
		grace:    opt.Grace,
		minute:   time.Minute,
	}
	if b.store.log == nil {
		b.store.log = slog.New(slog.DiscardHandler)
	}
	if b.store.now == nil {
		b.store.now = time.Now
	}
	if b.grace == 0 {
		b.grace = 10 * time.Second
	}
	c := capacity{CPUs: opt.CPUs, GPUs: opt.GPUs}
	if c.CPUs == 0 {
		c.CPUs = runtime.NumCPU()
	}
	if c.GPUs < 0 {
		c.GPUs = countGPUs(b.store.log)
	}
	return b, c, nil
}

// open makes the directory, records the capacity, and pays a first visit.
func (s *store) open(c capacity) error {
	if err := s.create(); err != nil {
		return err
	}
	ctx := context.Background()
	unlock, err := lock(ctx, s.path("lock"))
	if err != nil {
		return err
	}
	if err := s.tidy(); err != nil {
		unlock()
		return err
	}
	// A capacity that cannot be read is replaced like one that has changed.
	if old, err := s.readCapacity(); err != nil || old != c {
		if err := saveJSON(s.path("capacity.json"), c); err != nil {
			unlock()
			return err
		}
	}
	unlock()
	v, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer v.leave()
	v.pass()
	return nil
}

// Nodes returns [slurm.ErrUnsupported]: one machine has no lanes.
func (b *Backend) Nodes(context.Context, string) (map[string]int, error) {
	return nil, slurm.ErrUnsupported
}
