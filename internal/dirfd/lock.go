package dirfd

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Lock takes an exclusive flock(2) on a file of that name, which is made where
// it is missing and never removed: an unlinked lock file would let two holders
// in, one on the old inode and one on the new. It tries until the context ends
// and then returns ErrLocked. The lock ends with unlock, or with the process.
func (d *Dir) Lock(ctx context.Context, name string) (unlock func() error, err error) {
	var file int
	err = d.at("lock", name, func(fd int) error {
		file, err = unix.Openat(fd, name,
			unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o666)
		return notRegular(err)
	})
	if err != nil {
		return nil, err
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = retry(func() error { return unix.Flock(file, unix.LOCK_EX|unix.LOCK_NB) })
		if err == nil {
			return func() error { return pathError("unlock", d.join(name), unix.Close(file)) }, nil
		}
		if err != unix.EWOULDBLOCK {
			unix.Close(file)
			return nil, pathError("lock", d.join(name), err)
		}
		select {
		case <-ctx.Done():
			unix.Close(file)
			return nil, pathError("lock", d.join(name), ErrLocked)
		case <-time.After(pause):
		}
	}
}
