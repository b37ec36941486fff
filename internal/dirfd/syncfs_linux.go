package dirfd

import "golang.org/x/sys/unix"

// SyncFilesystem makes durable all that was written on the directory's filesystem, by
// whomever. It is for a tree of many files, of which one after the other would take
// ten milliseconds each.
func (d *Dir) SyncFilesystem() error {
	fd, err := d.acquire("sync")
	if err != nil {
		return err
	}
	defer d.release()
	return pathError("sync", d.name, retry(func() error { return unix.Syncfs(fd) }))
}
