package dirfd

import (
	"time"

	"golang.org/x/sys/unix"
)

// Touch sets the mtime of a regular file, which is made empty where it is
// missing, and returns the mtime that the filesystem kept, which may be
// coarser. What is no regular file is ErrNotRegular. The zero time means now, as the filesystem's own clock has it.
//
// Only the session's half of the channel touches markers. The kernel never
// changes a time there.
func (d *Dir) Touch(name string, at time.Time) (kept time.Time, err error) {
	var file int
	err = d.at("touch", name, func(fd int) error {
		file, err = unix.Openat(fd, name,
			unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o666)
		return notRegular(err)
	})
	if err != nil {
		return time.Time{}, err
	}
	defer unix.Close(file)
	if err := retry(func() error { return setTime(file, at) }); err != nil {
		return time.Time{}, pathError("touch", d.join(name), err)
	}
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(file, &st) }); err != nil {
		return time.Time{}, pathError("stat", d.join(name), err)
	}
	// A FIFO with a reader, or a device, can be opened and touched as well, but
	// no kernel takes it for a marker.
	stat := statOf(&st)
	if !stat.Mode.IsRegular() {
		return time.Time{}, pathError("touch", d.join(name), ErrNotRegular)
	}
	return stat.ModTime, nil
}
