//go:build !linux

package dirfd

// SyncFilesystem makes durable what was written, as far as the system offers that.
func (d *Dir) SyncFilesystem() error { return d.Sync() }
