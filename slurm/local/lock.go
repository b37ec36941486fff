package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the exclusive lock of the file at path, which it creates, and
// returns the function that gives it back. It waits as long as ctx allows.
//
// flock(2) rather than fcntl(2): its locks belong to the open file, so that they
// also hold between goroutines of one process and do not vanish when another
// part of the program closes the same file. The kernel drops them with the
// process, however it ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	if ctx.Err() != nil {
		// A caller who has given up wants nothing done any more, even if the
		// lock happens to be free.
		return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	release := func() {
		// Closing alone would not do: a process that is being forked this very
		// moment shares the open file until it calls exec.
		flock(f, syscall.LOCK_UN)
		f.Close()
	}
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		locked := make(chan error, 1)
		go func() { locked <- flock(f, syscall.LOCK_EX) }()
		select {
		case err = <-locked:
		case <-ctx.Done():
			// A blocked flock cannot be called off. Its turn will come, and
			// then the lock is passed on at once.
			go func() {
				<-locked
				release()
			}()
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return release, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
