//go:build linux

package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Tree makes what the lines describe below root, parents included:
//
//	dir    PATH
//	file   PATH CONTENT…
//	link   PATH TARGET
//	hard   PATH EXISTING
//	fifo   PATH
//	socket PATH
//	device PATH          (the one that reads as endless zeros; root only)
//	sparse PATH BYTES
//
// TARGET and EXISTING are taken as they are; a relative EXISTING is below root.
func Tree(t testing.TB, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := grow(root, line); err != nil {
			t.Fatalf("tree line %q: %v", line, err)
		}
	}
}

func grow(root, line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	name, arg, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	switch kind {
	case "dir":
		return os.MkdirAll(path, 0o777)
	case "file":
		return os.WriteFile(path, []byte(arg), 0o666)
	case "link":
		return os.Symlink(arg, path)
	case "hard":
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(root, arg)
		}
		return os.Link(arg, path)
	case "fifo":
		return syscall.Mkfifo(path, 0o666)
	case "socket":
		return listen(path)
	case "device":
		const zero = 1<<8 | 5
		return syscall.Mknod(path, syscall.S_IFCHR|0o666, zero)
	case "sparse":
		size, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			return err
		}
		return os.Truncate(path, size)
	}
	return fmt.Errorf("no kind %q", kind)
}

// listen leaves the socket of a server that is gone. The address of a socket
// is short, so it is bound by way of a descriptor of its directory.
func listen(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{
		Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)),
	})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
