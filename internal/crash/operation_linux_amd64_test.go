package crash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// operation says how a system call names the files that it changes.
type operation struct {
	kind  string
	files []operand
}

// operand is a file that a call names: by a descriptor, or by a path that may be
// relative to one.
type operand struct{ fd, path int }

const none = -1 // no such argument

func fd(arg int) []operand     { return []operand{{arg, none}} }
func path(arg int) []operand   { return []operand{{none, arg}} }
func at(fd, arg int) []operand { return []operand{{fd, arg}} }

// The kinds of an operation that are more than the name of a call.
const (
	create = "create"
	empty  = "empty"
	rmdir  = "rmdir"
	unlink = "unlink"
	flock  = "flock"
	write  = "write"
	openat = "open"
)

// operations are the calls, by their numbers. The calls are those of Go's library and of
// what git is linked with.
func operations() map[uint64]operation {
	return map[uint64]operation{
		unix.SYS_OPENAT:          {openat, at(0, 1)},
		unix.SYS_OPENAT2:         {openat, at(0, 1)},
		unix.SYS_OPEN:            {openat, path(0)},
		unix.SYS_WRITE:           {write, fd(0)},
		unix.SYS_PWRITE64:        {write, fd(0)},
		unix.SYS_WRITEV:          {write, fd(0)},
		unix.SYS_PWRITEV:         {write, fd(0)},
		unix.SYS_SENDFILE:        {write, fd(0)},
		unix.SYS_COPY_FILE_RANGE: {write, fd(2)},
		unix.SYS_FTRUNCATE:       {"truncate", fd(0)},
		unix.SYS_TRUNCATE:        {"truncate", path(0)},
		unix.SYS_FALLOCATE:       {"truncate", fd(0)},
		unix.SYS_RENAME:          {"rename", append(path(0), path(1)...)},
		unix.SYS_RENAMEAT:        {"rename", append(at(0, 1), at(2, 3)...)},
		unix.SYS_RENAMEAT2:       {"rename", append(at(0, 1), at(2, 3)...)},
		unix.SYS_LINK:            {"link", path(1)},
		unix.SYS_LINKAT:          {"link", at(2, 3)},
		unix.SYS_SYMLINK:         {"symlink", path(1)},
		unix.SYS_SYMLINKAT:       {"symlink", at(1, 2)},
		unix.SYS_UNLINK:          {unlink, path(0)},
		unix.SYS_UNLINKAT:        {unlink, at(0, 1)},
		unix.SYS_RMDIR:           {rmdir, path(0)},
		unix.SYS_MKDIR:           {"mkdir", path(0)},
		unix.SYS_MKDIRAT:         {"mkdir", at(0, 1)},
		unix.SYS_FSYNC:           {"sync", fd(0)},
		unix.SYS_FDATASYNC:       {"sync", fd(0)},
		unix.SYS_SYNCFS:          {"sync", fd(0)},
		unix.SYS_FCHMOD:          {"chmod", fd(0)},
		unix.SYS_CHMOD:           {"chmod", path(0)},
		unix.SYS_FCHMODAT:        {"chmod", at(0, 1)},
		unix.SYS_FCHMODAT2:       {"chmod", at(0, 1)},
		unix.SYS_UTIMENSAT:       {"touch", at(0, 1)},
		unix.SYS_FLOCK:           {flock, fd(0)},
	}
}

// call is a system call that a thread is about to make.
type call struct {
	tid  int
	nr   uint64
	args [6]uint64
}

func callOf(tid int) (call, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return call{}, fmt.Errorf("reading the registers of %d: %w", tid, err)
	}
	return call{tid, regs.Orig_rax, [6]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}}, nil
}

// point says what the call does below a directory, if it changes anything there.
func (c call) point(below string) (kind, file string, ok bool) {
	op, ok := operations()[c.nr]
	if !ok {
		return "", "", false
	}
	for _, operand := range op.files {
		if name, found := c.name(operand); found {
			if rel, under := strings.CutPrefix(name, below+"/"); under {
				file = rel
			}
		}
	}
	if file == "" {
		return "", "", false
	}
	switch op.kind {
	case openat:
		return c.open(file, below)
	case unlink:
		if c.nr == unix.SYS_UNLINKAT && c.args[2]&unix.AT_REMOVEDIR != 0 {
			return rmdir, file, true
		}
	case flock:
		return flock, file, c.args[1]&unix.LOCK_UN == 0
	}
	return op.kind, file, true
}

// open tells a file that is made from one that is emptied, and from one that is there
// and merely opened.
func (c call) open(file, below string) (string, string, bool) {
	flags := c.args[2]
	switch c.nr {
	case unix.SYS_OPEN:
		flags = c.args[1]
	case unix.SYS_OPENAT2:
		how := c.memory(c.args[2], 8)
		if len(how) < 8 {
			return "", "", false
		}
		flags = binary.LittleEndian.Uint64(how)
	}
	_, err := os.Lstat(filepath.Join(below, file))
	switch {
	case flags&unix.O_CREAT != 0 && err != nil:
		return create, file, true
	case flags&unix.O_TRUNC != 0 && err == nil:
		return empty, file, true
	}
	return "", "", false
}

// name is the path of a file that the call names.
func (c call) name(o operand) (string, bool) {
	var name string
	if o.path != none && c.args[o.path] != 0 { // utimensat(2) may leave it out
		name = c.text(c.args[o.path])
		if filepath.IsAbs(name) {
			return filepath.Clean(name), true
		}
	}
	from := "cwd"
	if o.fd != none && int32(c.args[o.fd]) != unix.AT_FDCWD {
		from = fmt.Sprintf("fd/%d", int32(c.args[o.fd]))
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", c.tid, from))
	if err != nil || !filepath.IsAbs(dir) {
		return "", false // a pipe, a socket
	}
	return filepath.Join(strings.TrimSuffix(dir, " (deleted)"), name), true
}

// text reads a string of the thread's.
func (c call) text(at uint64) string {
	before, _, _ := bytes.Cut(c.memory(at, unix.PathMax), []byte{0})
	return string(before)
}

// memory reads so many bytes at most; what lies behind the end of a page may not be there.
func (c call) memory(at uint64, n int) []byte {
	buf := make([]byte, n)
	for got := 0; ; {
		m := min(n-got, 4096-int(at+uint64(got))%4096)
		if m <= 0 {
			return buf[:got]
		}
		local := []unix.Iovec{{Base: &buf[got], Len: uint64(m)}}
		read, err := unix.ProcessVMReadv(c.tid, local, []unix.RemoteIovec{{Base: uintptr(at) + uintptr(got), Len: m}}, 0)
		if err != nil || read <= 0 {
			return buf[:got]
		}
		got += read
		if bytes.IndexByte(buf[got-read:got], 0) >= 0 && n == unix.PathMax {
			return buf[:got]
		}
	}
}
