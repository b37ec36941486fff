package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Kernel is the kernel's half of a channel. Its methods may be called by
// several goroutines at once. Everything it reads was written by a session that
// may be hostile, and every access goes through the descriptor of the channel's
// directory that it holds.
//
// It holds one descriptor and no second one of the workspace, or a process with
// ten thousand channels would run into the usual limits twice as soon.
type Kernel struct {
	workspace string   // absolute
	work      dirfd.ID // what stood there when the half was opened

	mu  sync.Mutex
	dir *dirfd.Dir
}

// OpenKernel opens the channel of a workspace. Links in the workspace's own
// path are followed, since the operator chose it; nothing below is. Without a
// channel the error is [ErrNoChannel].
func OpenKernel(workspace string) (*Kernel, error) {
	return openKernel(workspace, openChannel)
}

// CreateKernel is OpenKernel that makes the channel where there is none, as a
// kernel does before a leg. A file or link in its place is replaced, and temporary files
// that are older than an hour are removed.
func CreateKernel(workspace string) (*Kernel, error) {
	k, err := openKernel(workspace, func(work *dirfd.Dir) (*dirfd.Dir, error) {
		dir, err := openChannel(work)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			// A link, a file, or a directory that was closed to everybody.
			if err := work.Discard(DirName); err != nil {
				return nil, err
			}
		}
		return work.Mkdir(DirName)
	})
	if err == nil {
		sweep(k.dir)
	}
	return k, err
}

func openKernel(workspace string, open func(*dirfd.Dir) (*dirfd.Dir, error)) (*Kernel, error) {
	// The process may change its working directory before the next Refresh.
	workspace, err := filepath.Abs(workspace)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	work, err := dirfd.Open(workspace)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	defer work.Close()
	id, err := work.ID()
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	dir, err := open(work)
	if err != nil {
		return nil, fmt.Errorf("opening the channel of %s: %w", workspace, noChannel(err))
	}
	return &Kernel{workspace: workspace, work: id, dir: dir}, nil
}

// openWork opens the workspace anew. Its path is the operator's, and nothing
// that a session can write to leads there; what is not the directory of before
// is not entered all the same.
func (k *Kernel) openWork() (*dirfd.Dir, error) {
	work, err := dirfd.Open(k.workspace)
	if err != nil {
		return nil, err
	}
	id, err := work.ID()
	if err == nil && id != k.work {
		err = fmt.Errorf("%s is another directory than before: %w", k.workspace, fs.ErrNotExist)
	}
	if err != nil {
		work.Close()
		return nil, err
	}
	return work, nil
}

// noChannel makes ErrNoChannel of "nothing there" and of "something else there".
func noChannel(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, dirfd.ErrNotRegular) {
		return fmt.Errorf("%w: %v", ErrNoChannel, err)
	}
	return err
}

// Close gives up the descriptor, as soon as calls that are under way return.
// It does not wait for them. Calls that come later fail with fs.ErrClosed.
func (k *Kernel) Close() error {
	// Under the lock, or a Refresh under way could put a directory in k.dir
	// between the look and the close, and that one would stay open.
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dir.Close()
}

func (k *Kernel) current() *dirfd.Dir {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dir
}

// Refresh looks whether the channel's name still leads to the directory that is
// held, and opens it anew where the session has put another one there. A watch
// on the old one is then worth nothing, and an Answer under way in it may fail
// with fs.ErrClosed; its question is to be looked for anew. While there is none
// at all the error is [ErrNoChannel] and the old one stays.
func (k *Kernel) Refresh() (replaced bool, err error) {
	work, err := k.openWork()
	if err != nil {
		return false, noChannel(err)
	}
	defer work.Close()
	dir, err := openChannel(work)
	if err != nil {
		return false, noChannel(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err1 := dir.ID()
	held, err2 := k.dir.ID()
	if err := errors.Join(err1, err2); err != nil || now == held {
		return false, errors.Join(err, dir.Close())
	}
	k.dir.Close()
	k.dir = dir
	return true, nil
}

// WatchPath is a path for inotify that leads to the very directory that is
// held, and not to what the session may have put in its place. It is good until
// Refresh says replaced, or Close.
func (k *Kernel) WatchPath() string { return k.current().ProcPath() }

// Pending returns the stamp of a question that has not been answered, and
// whether there is one. The stamp is to be handed to Answer as it is: a
// question that arrives meanwhile has a greater one and stays pending.
//
// An unreadable marker is an error; one that is no regular file is no question.
func (k *Kernel) Pending(verb string) (Stamp, bool, error) {
	if err := CheckVerb(verb); err != nil {
		return 0, false, err
	}
	dir := k.current()
	st, err := dir.Lstat(requestMarker(verb))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode.IsRegular() {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("looking for a %s question: %w", verb, err)
	}
	stamp := StampOf(st.ModTime)
	return stamp, stamp > readDone(dir, verb), nil
}

// Answer puts the answer in place and then marks the stamp as answered. It
// changes the verb's two files and no other.
//
// One verb is answered by one caller at a time, with data that was had after
// Pending returned the stamp: an answer that is overtaken by an older one would
// leave the later question with data from before it was asked.
//
// There is no fsync: an answer lives no longer than its question. There is none
// between the two renames either, since the order in which other processes see
// them is the order in which they are made.
func (k *Kernel) Answer(verb string, stamp Stamp, answer []byte) error {
	if err := CheckVerb(verb); err != nil {
		return err
	}
	dir := k.current()
	if err := dir.Publish(answerFile(verb), answer, dirfd.Volatile); err != nil {
		return fmt.Errorf("answering %s: %w", verb, err)
	}
	if err := dir.Publish(doneMarker(verb), []byte(stamp.String()), dirfd.Volatile); err != nil {
		return fmt.Errorf("marking %s as answered: %w", verb, err)
	}
	return nil
}

// ReadCommitted returns the committed request as it stands, at most max bytes
// of it ([MaxSleepBytes] for an author, [MaxVerdictBytes] for a judge). It may
// be called only after the session's processes are gone. Without a request the
// error is [ErrNothingCommitted]; what is too large, no regular file or not
// readable is a *[RefusedError]. The caller keeps the bytes, then calls
// DropCommitted.
func (k *Kernel) ReadCommitted(max int64) ([]byte, error) {
	raw, err := k.current().ReadSmall(CommittedFile, max)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNothingCommitted
	case errors.Is(err, dirfd.ErrTooLarge):
		return nil, refuseSize(max)
	case errors.Is(err, dirfd.ErrNotRegular):
		return nil, refuse(CommittedFile, rewriteCure, "it is not a regular file of its own")
	case errors.Is(err, fs.ErrPermission):
		// The session has taken the kernel's permission away, and trying again
		// would fail for ever.
		return nil, refuse(CommittedFile, rewriteCure, "the kernel is not permitted to read it")
	case err != nil:
		return nil, fmt.Errorf("reading the committed request: %w", err)
	}
	return raw, nil
}

// DropCommitted consumes the committed request, whatever stands in its place,
// and what is still staged beside it. None is no error.
//
// A sleep that was killed between committing and clearing leaves its launches
// staged, and the next leg's sleep would run them a second time.
func (k *Kernel) DropCommitted() error {
	dir := k.current()
	if err := errors.Join(dir.Discard(StagedFile), dir.Discard(CommittedFile)); err != nil {
		return fmt.Errorf("consuming the committed request: %w", err)
	}
	return nil
}

// DropStaged discards what an earlier session has staged and not committed: a
// leg begins with nothing staged. None is no error.
func (k *Kernel) DropStaged() error {
	if err := k.current().Discard(StagedFile); err != nil {
		return fmt.Errorf("discarding what was staged: %w", err)
	}
	return nil
}
