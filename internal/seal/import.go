package seal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/git"
)

// treeFile is one line of the sealed tree.
type treeFile struct {
	untrustedPath string
	mode          string
	oid           oid
}

// The modes that a seal holds, as git writes them.
const (
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
)

// importer streams one seal into `git fast-import`. It works out every object's
// name itself and sends only content that the repository does not have.
//
// There is no cache of file times that would save the reading: a shared mapping
// on tmpfs changes a file and none of its times, so a cache could seal what the
// file held one leg ago. 400 MB that did not change take under a second.
type importer struct {
	limits Limits
	cmd    *exec.Cmd
	stderr *git.Tail
	stdout bytes.Buffer
	in     io.Closer
	w      *bufio.Writer

	known map[oid]bool
	buf   []byte // smallFile bytes
	files []treeFile
	bytes int64
}

// smallFile is the size up to which a file is read into memory, once. Larger
// ones are read to be hashed and, where they are new, again to be sent.
const smallFile = 1 << 20

func startImport(ctx context.Context, g git.Repo, limits Limits, known map[oid]bool) (*importer, error) {
	im := &importer{limits: limits, known: known, buf: make([]byte, smallFile)}
	// Deltas are tried against the blob sent before, mostly in vain: half the
	// time, for 6 % less disk.
	im.cmd, im.stderr = g.Command(ctx, "fast-import", "--depth=0", "--quiet", "--done", "--date-format=raw")
	im.cmd.Stdout = &im.stdout
	in, err := im.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	im.in, im.w = in, bufio.NewWriterSize(in, 64<<10)
	return im, im.cmd.Start()
}

// errChanged: a file that was cut while it was read, each time anew.
var errChanged = errors.New("kept changing while it was read")

// file adds a file or link of the workspace. An error is about that file only,
// unless broken says that git is gone or the error is a *LimitError.
func (im *importer) file(d *dirfd.Dir, f file) error {
	if f.link {
		target, err := d.Readlink(f.untrustedName, maxTarget)
		if err != nil {
			return err
		}
		return im.addSmall(f, modeLink, []byte(target))
	}
	r, st, err := d.OpenRegular(f.untrustedName)
	if err != nil {
		return err
	}
	defer r.Close()
	if st.Size > im.limits.FileBytes {
		return fileTooLarge(im.limits, f.untrustedDir+f.untrustedName, st.Size)
	}
	mode := modeFile
	if st.Mode&0o100 != 0 {
		mode = modeExec
	}
	if st.Size > smallFile {
		return im.addLarge(f, mode, r)
	}
	// The size at the open counts. Less means that the file was cut and what was
	// read is what is left of it; what was appended is not looked at.
	n, err := io.ReadFull(r, im.buf[:st.Size])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return im.addSmall(f, mode, im.buf[:n])
}

// maxTarget is the longest target of a link, PATH_MAX on Linux.
const maxTarget = 4096

func (im *importer) addSmall(f file, mode string, content []byte) error {
	name := hashOf(content)
	if !im.known[name] {
		fmt.Fprintf(im.w, "blob\ndata %d\n", len(content))
		im.w.Write(content)
		im.w.WriteByte('\n')
	}
	return im.note(f, mode, name, int64(len(content)))
}

// addLarge reads a file in pieces. Fast-import is told the length before the
// bytes, so when the file is cut after that the rest is filled with zeros and
// the object is not used: it lies in the pack under a name that nothing has.
func (im *importer) addLarge(f file, mode string, r *os.File) error {
	for range 3 {
		info, err := r.Stat()
		if err != nil {
			return err
		}
		size := info.Size()
		if size > im.limits.FileBytes {
			return fileTooLarge(im.limits, f.untrustedDir+f.untrustedName, size)
		}
		name, err := hashFile(r, size, io.Discard)
		if err == nil && !im.known[name] {
			name, err = im.sendLarge(r, size)
		}
		if err == nil {
			return im.note(f, mode, name, size)
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
	return errChanged
}

func (im *importer) sendLarge(r *os.File, size int64) (oid, error) {
	fmt.Fprintf(im.w, "blob\ndata %d\n", size)
	sent := &counter{w: im.w}
	name, err := hashFile(r, size, sent)
	io.CopyN(im.w, zeros{}, size-sent.n)
	im.w.WriteByte('\n')
	return name, err
}

// note lists a file whose content git has by now.
func (im *importer) note(f file, mode string, name oid, size int64) error {
	im.known[name] = true
	im.files = append(im.files, treeFile{f.untrustedDir + f.untrustedName, mode, name})
	im.bytes += size
	return im.broken()
}

// broken says why git takes no more. The writer keeps its first error.
func (im *importer) broken() error {
	_, err := im.w.Write(nil)
	return err
}

// commit ends the stream with the tree and returns the commit. The branch moves
// when everything else is on disk, as git's last act.
func (im *importer) commit(parent, msg string, at time.Time) (string, error) {
	who := fmt.Sprintf("Outerloop <outerloop@localhost> %d +0000", max(at.Unix(), 0))
	fmt.Fprintf(im.w, "commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n%s\n", branch, who, who, len(msg), msg)
	if parent != "" {
		fmt.Fprintf(im.w, "from %s\n", parent)
	}
	io.WriteString(im.w, "deleteall\n")
	for _, f := range im.files {
		fmt.Fprintf(im.w, "M %s %s %s\n", f.mode, f.oid, quotePath(f.untrustedPath))
	}
	io.WriteString(im.w, "get-mark :1\ndone\n")
	if err := errors.Join(im.w.Flush(), im.end()); err != nil {
		return "", err
	}
	commit := strings.TrimSpace(im.stdout.String())
	if _, err := parseOID(commit); err != nil {
		return "", fmt.Errorf("git fast-import answered: %w", err)
	}
	return commit, nil
}

// end lets the process finish. Without a commit before it, git fails and the
// repository is as it was.
func (im *importer) end() error {
	im.in.Close()
	return im.cmd.Wait()
}

// quotePath writes a path as fast-import reads it, every byte that is not plain
// as three octal digits: a newline would end the command.
func quotePath(untrustedPath string) string {
	quoted := make([]byte, 0, len(untrustedPath)+2)
	quoted = append(quoted, '"')
	for i := range len(untrustedPath) {
		switch c := untrustedPath[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			quoted = fmt.Appendf(quoted, "\\%03o", c)
		default:
			quoted = append(quoted, c)
		}
	}
	return string(append(quoted, '"'))
}
