package seal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/git"
)

// Seal is a frozen state of a workspace.
type Seal struct {
	Commit  string // 40 hexadecimal digits, for Materialize
	Parent  string // the seal before it in this store, "" for the first
	Files   int    // files and links
	Bytes   int64  // of their content
	Ignored int    // paths left out by .gitignore files; a directory counts as one
	LeftOut []LeftOut
	// LeftOutMore counts what LeftOut, which has at most 100 entries, does not name.
	LeftOutMore int
}

// Seal freezes the workspace and returns when the result is on disk. The time
// becomes the commit's, in whole seconds; a message of any bytes its text.
//
// The seal holds regular files, with one bit of their mode, and symbolic links
// as they are. Hard links are files like others: whoever made one could read
// what it names. Directories without a file are not kept. Left out are: .git at
// any level, so that a nested repository is sealed as the files in it;
// .outerloop and .autoresearch at the top; what the tree's own .gitignore files
// name, even where the author's repository tracks it; and, listed in LeftOut,
// FIFOs, sockets, devices, and what vanished or could not be read.
//
// A workspace that exceeds a bound gives a *LimitError, and nothing is sealed.
// After any other error, or when the process is killed, the store holds what it
// held, or at most one more seal that nobody was told of. Sealing again is always
// right. Seals into one store go one after the other; the context bounds the
// waiting for another process too.
func (s *Store) Seal(ctx context.Context, workspace *dirfd.Dir, msg string, at time.Time) (Seal, error) {
	begin := time.Now()
	seal, err := s.seal(ctx, workspace, msg, at)
	if err != nil {
		return Seal{}, fmt.Errorf("seal %s: %w", workspace.Name(), err)
	}
	s.log.Info("sealed", "workspace", workspace.Name(), "commit", seal.Commit, "files", seal.Files, "bytes", seal.Bytes,
		"ignored", seal.Ignored, "left_out", len(seal.LeftOut)+seal.LeftOutMore, "took", time.Since(begin))
	return seal, nil
}

func (s *Store) seal(ctx context.Context, workspace *dirfd.Dir, msg string, at time.Time) (seal Seal, err error) {
	held, err := s.lock(ctx)
	if err != nil {
		return Seal{}, err
	}
	defer held.Close()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.tidy())
		}
	}()
	g := s.git
	g.Held = held
	w, err := s.walk(ctx, g, workspace)
	if err != nil {
		return Seal{}, err
	}
	parent, known, err := s.tip(ctx, g)
	if err != nil {
		return Seal{}, err
	}
	seal, err = load(ctx, g, workspace, w, known, parent, msg, at)
	if err != nil {
		return Seal{}, err
	}
	return seal, s.sync()
}

func (s *Store) walk(ctx context.Context, g git.Repo, workspace *dirfd.Dir) (*walk, error) {
	r, err := newRules(g, s.limits.RulesTime)
	if err != nil {
		return nil, err
	}
	w, err := walkTree(ctx, workspace, s.limits, r)
	return w, errors.Join(err, r.close())
}

// tip returns the latest seal, "" for none, and the names of the blobs in it.
func (s *Store) tip(ctx context.Context, g git.Repo) (commit string, known map[oid]bool, err error) {
	out, err := g.Output(ctx, "for-each-ref", "--format=%(objectname)", branch)
	if err != nil {
		return "", nil, err
	}
	known = map[oid]bool{}
	commit = strings.TrimSpace(string(out))
	if commit == "" {
		return "", known, nil
	}
	files, err := listTree(ctx, g, commit)
	if err != nil {
		return "", nil, err
	}
	for _, f := range files {
		known[f.oid] = true
	}
	return commit, known, nil
}

// load sends what the walk found. The workspace may have changed since: each
// directory is opened anew and each file is what stands there now.
func load(ctx context.Context, g git.Repo, workspace *dirfd.Dir, w *walk, known map[oid]bool, parent, msg string, at time.Time) (Seal, error) {
	im, err := startImport(ctx, g, w.limits, known)
	if err != nil {
		return Seal{}, err
	}
	if err := im.all(ctx, workspace, w); err != nil {
		im.end()
		if _, limit := errors.AsType[*LimitError](err); limit {
			return Seal{}, err
		}
		return Seal{}, im.stderr.Fail(ctx, "fast-import", err)
	}
	commit, err := im.commit(parent, msg, at)
	if err != nil {
		return Seal{}, im.stderr.Fail(ctx, "fast-import", err)
	}
	return Seal{
		Commit: commit, Parent: parent,
		Files: len(im.files), Bytes: im.bytes,
		Ignored: w.ignored, LeftOut: w.leftOut.kept, LeftOutMore: w.leftOut.more,
	}, nil
}

// all adds every file of the walk, and to its list those that are gone.
func (im *importer) all(ctx context.Context, workspace *dirfd.Dir, w *walk) error {
	for len(w.files) > 0 {
		untrustedDir := w.files[0].untrustedDir
		n := 1
		for n < len(w.files) && w.files[n].untrustedDir == untrustedDir {
			n++
		}
		if err := im.directory(ctx, workspace, untrustedDir, w.files[:n], w); err != nil {
			return err
		}
		w.files = w.files[n:]
	}
	return nil
}

func (im *importer) directory(ctx context.Context, workspace *dirfd.Dir, untrustedDir string, files []file, w *walk) error {
	d, err := workspace.SubPath(strings.TrimSuffix(untrustedDir, "/"), false)
	if err != nil {
		w.leftOut.add(untrustedDir, whyNot(err))
		return nil
	}
	defer d.Close()
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := im.file(d, f)
		if broken := im.broken(); broken != nil {
			return broken
		}
		if _, limit := errors.AsType[*LimitError](err); limit {
			return err
		}
		if err != nil {
			w.leftOut.add(f.untrustedDir+f.untrustedName, whyNot(err))
		}
		if im.bytes > w.limits.TotalBytes {
			return w.tooManyBytes(im.bytes)
		}
	}
	return nil
}
