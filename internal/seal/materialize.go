package seal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/git"
)

// ErrNotEmpty: a seal is brought back into an empty directory only. What stood
// there before would be part of what the job sees.
var ErrNotEmpty = errors.New("the directory is not empty")

// Materialize writes a seal into an empty directory: the bytes that were read,
// modes 0644 and 0755 whatever the umask, links with their targets as they were,
// also those that lead nowhere or out; directories get what the umask leaves of
// 0777. Nobody may write to the directory meanwhile. It only reads the store, and may run while others seal.
//
// The files are not synced: a tree that a power cut spoils is materialized
// again. After an error the directory holds a part and is the caller's to
// remove. A directory that is not empty gives ErrNotEmpty.
func (s *Store) Materialize(ctx context.Context, commit string, into *dirfd.Dir) error {
	if err := s.materialize(ctx, commit, into); err != nil {
		return fmt.Errorf("bring seal %s back into %s: %w", commit, into.Name(), err)
	}
	return nil
}

func (s *Store) materialize(ctx context.Context, commit string, into *dirfd.Dir) error {
	if _, err := parseOID(commit); err != nil {
		return err
	}
	untrustedNames, _, err := into.List(1)
	if err != nil {
		return err
	}
	if len(untrustedNames) > 0 {
		return ErrNotEmpty
	}
	files, err := listTree(ctx, s.git, commit)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, stderr := s.git.Command(ctx, "cat-file", "--batch", "--buffer")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		defer in.Close()
		w := bufio.NewWriter(in)
		for _, f := range files {
			w.WriteString(f.oid.String() + "\n")
		}
		w.Flush()
	}()
	err = writeTree(ctx, into, files, bufio.NewReaderSize(out, 256<<10))
	if err != nil {
		cancel()
	}
	<-asked
	ended := cmd.Wait()
	if err != nil {
		return err
	}
	if ended != nil {
		return stderr.Fail(ctx, "cat-file", ended)
	}
	return nil
}

// listTree lists the files and links of a commit, those of one directory
// together with those below it, in git's order.
func listTree(ctx context.Context, g git.Repo, commit string) ([]treeFile, error) {
	out, err := g.Output(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	files := make([]treeFile, 0, bytes.Count(out, []byte{0}))
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		about, untrustedPath, _ := strings.Cut(line, "\t")
		fields := strings.Split(about, " ")
		if len(fields) != 3 || fields[1] != "blob" {
			return nil, fmt.Errorf("git ls-tree: %q is nothing that a seal holds", line)
		}
		name, err := parseOID(fields[2])
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: %w", err)
		}
		files = append(files, treeFile{untrustedPath, fields[0], name})
	}
	return files, nil
}

// writeTree writes the files whose contents follow one another in r.
func writeTree(ctx context.Context, into *dirfd.Dir, files []treeFile, r *bufio.Reader) error {
	var dir *dirfd.Dir
	var open string // the directory that dir is
	defer func() {
		if dir != nil {
			dir.Close()
		}
	}()
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		untrustedDir, untrustedName, _ := cutLast(f.untrustedPath)
		if dir == nil || untrustedDir != open {
			next, err := into.SubPath(strings.TrimSuffix(untrustedDir, "/"), true)
			if err != nil {
				return err
			}
			if dir != nil {
				dir.Close()
			}
			dir, open = next, untrustedDir
		}
		size, err := readHeader(r, f.oid)
		if err != nil {
			return err
		}
		if err := writeFile(dir, untrustedName, f.mode, io.LimitReader(r, size), size); err != nil {
			return err
		}
		if _, err := r.Discard(1); err != nil { // the newline behind the content
			return err
		}
	}
	return nil
}

// readHeader reads "<oid> blob <size>". What git has not is "<oid> missing".
func readHeader(r *bufio.Reader, want oid) (size int64, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("git cat-file ended early: %w", err)
	}
	rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), want.String()+" blob ")
	if !found {
		return 0, fmt.Errorf("git cat-file: the store is damaged: asked for %s, answered %q", want, line)
	}
	return strconv.ParseInt(rest, 10, 64)
}

func writeFile(dir *dirfd.Dir, untrustedName, mode string, content io.Reader, size int64) error {
	perm := fs.FileMode(0o644)
	switch mode {
	case modeFile:
	case modeExec:
		perm = 0o755
	case modeLink:
		if size > maxTarget {
			return fmt.Errorf("a seal holds no link with a target of %d bytes", size)
		}
		target := make([]byte, size)
		if _, err := io.ReadFull(content, target); err != nil {
			return err
		}
		return dir.Symlink(string(target), untrustedName)
	default:
		return fmt.Errorf("a seal holds no file of mode %s", mode)
	}
	f, err := dir.Create(untrustedName, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}
