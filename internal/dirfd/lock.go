package dirfd

import (
	"time"

	"golang.org/x/sys/unix"
)

// Lock takes an exclusive flock(2) on a file of that name, which is made where
// it is missing and never removed: an unlinked lock file would let two holders
// in, one on the old inode and one on the new. The lock ends with unlock, or with
// the process. Another holder is waited for: for so long, then the error is
// ErrLocked, or until the context ends, then it is the context's. A negative wait
// is as long as the context.
//
// There is neither a deadline of the context nor a timer's channel in here: each
// would link the formats and zone tables of package time into every verb, 70 KB.
func (d *Dir) Lock(ctx Canceler, name string, wait time.Duration) (unlock func() error, err error) {
	var file int
	err = d.at("lock", name, func(fd int) error {
		file, err = openBelow(fd, name,
			unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o666)
		return notRegular(err)
	})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = retry(func() error { return unix.Flock(file, unix.LOCK_EX|unix.LOCK_NB) })
		if err == nil {
			return func() error { return pathError("unlock", d.join(name), unix.Close(file)) }, nil
		}
		if err != unix.EWOULDBLOCK {
			unix.Close(file)
			return nil, pathError("lock", d.join(name), err)
		}
		left := wait - time.Since(start)
		switch {
		case ctx.Err() != nil:
			unix.Close(file)
			return nil, ctx.Err()
		case wait < 0:
			left = pause
		case left <= 0:
			unix.Close(file)
			return nil, pathError("lock", d.join(name), ErrLocked)
		}
		time.Sleep(min(pause, left))
	}
}
