package dirfd

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Touch sets the mtime of a regular file, which is made empty where it is
// missing, and returns the mtime that the filesystem kept, which may be coarser.
// The zero time means now, as the filesystem's own clock has it. What is no
// regular file is ErrNotRegular.
//
// Only the session's half of the channel touches markers. The kernel never
// changes a time there.
func (d *Dir) Touch(name string, at time.Time) (kept time.Time, err error) {
	const flags = unix.O_WRONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	var file int
	made := false
	err = d.at("touch", name, func(fd int) error {
		file, err = openBelow(fd, name, flags, 0)
		if errors.Is(err, unix.ENOENT) {
			file, err = openBelow(fd, name, flags|unix.O_CREAT|unix.O_EXCL, 0o666)
			made = err == nil
		}
		if isExist(err) { // another process has made it in between
			file, err = openBelow(fd, name, flags|unix.O_CREAT, 0o666)
		}
		return notRegular(err)
	})
	if err != nil {
		return time.Time{}, err
	}
	defer unix.Close(file)
	// A new file bears the time already. To set it once more would be a second
	// question to a kernel that has seen the first.
	if !made || !at.IsZero() {
		if err := retry(func() error { return setTime(file, at) }); err != nil {
			return time.Time{}, pathError("touch", d.join(name), err)
		}
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
