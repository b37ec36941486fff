package watcher

import "syscall"

// eventful says whether a directory lies on a filesystem of this machine, where
// every change is announced whoever makes it. On all others, network and FUSE
// filesystems before all, a watch hears of what this machine changes and of
// nothing that another one does, and no probe made here can tell.
//
// The numbers are those of statfs(2). A filesystem that is not listed costs a
// look every few seconds and nothing else.
func eventful(dir string) bool {
	var st syscall.Statfs_t
	for {
		err := syscall.Statfs(dir, &st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		break
	}
	switch uint32(st.Type) {
	case 0xef53, // ext2, ext3, ext4
		0x58465342, // XFS
		0x9123683e, // Btrfs
		0x01021994, // tmpfs
		0x858458f6, // ramfs
		0x794c7630, // overlayfs
		0x2fc12fc1, // ZFS
		0xf2f52010, // F2FS
		0xca451a4e: // bcachefs
		return true
	}
	return false
}
