package dirfd

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Create makes a new file with exactly the permission bits of perm, whatever
// the umask, and opens it for writing. Anything that already stands under the
// name, a dangling link included, makes it fail with fs.ErrExist.
//
// It is for a directory that nobody else reads yet, such as a tree that is
// being filled: the file can be seen while it is half written. Publish is for
// all others.
func (d *Dir) Create(name string, perm fs.FileMode) (f *os.File, err error) {
	err = d.at("create", name, func(fd int) error {
		n, err := openBelow(fd, name,
			unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
		if err != nil {
			return err
		}
		if err := retry(func() error { return unix.Fchmod(n, uint32(perm.Perm())) }); err != nil {
			unix.Close(n)
			return err
		}
		f = os.NewFile(uintptr(n), d.join(name))
		return nil
	})
	return f, err
}
