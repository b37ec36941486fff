package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Session is the session's half of a channel: it stages, commits and asks. Any
// number of processes of one session may use it at once; what they stage is
// serialized by a lock file.
type Session struct {
	workspace string
	dir       *dirfd.Dir

	mu      sync.Mutex
	asked   bool            // there was a question before
	waiters []*dirfd.Waiter // that no question uses at the moment
	closed  bool
}

// FindSession opens the channel of the workspace, or, where workspace is "",
// that of the nearest directory at or above dir that has one. It never makes
// one: where a kernel has prepared none, the error is [ErrNoChannel].
func FindSession(workspace, dir string) (*Session, error) {
	if workspace != "" {
		return openSession(workspace)
	}
	for {
		s, err := openSession(dir)
		up := filepath.Dir(dir)
		if err == nil || !errors.Is(err, ErrNoChannel) || up == dir {
			return s, err
		}
		dir = up
	}
}

func openSession(workspace string) (*Session, error) {
	work, err := dirfd.Open(workspace)
	if err == nil {
		defer work.Close()
		var dir *dirfd.Dir
		if dir, err = openChannel(work); err == nil {
			return &Session{workspace: workspace, dir: dir}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, dirfd.ErrNotRegular) {
		return nil, fmt.Errorf("%w: %s has no %s directory", ErrNoChannel, workspace, DirName)
	}
	return nil, fmt.Errorf("opening the channel of %s: %w", workspace, err)
}

// openChannel opens the channel of a workspace under its name or its former one.
func openChannel(work *dirfd.Dir) (*dirfd.Dir, error) {
	dir, err := work.Sub(DirName)
	if errors.Is(err, fs.ErrNotExist) {
		if former, err := work.Sub(FormerDirName); err == nil {
			return former, nil
		}
	}
	return dir, err
}

// Close gives up the channel.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, w := range s.waiters {
		w.Close()
	}
	s.waiters = nil
	return s.dir.Close()
}

// Workspace is the path of the workspace that the channel belongs to.
func (s *Session) Workspace() string { return s.workspace }

// Stage changes what is staged. No other program of the session changes it
// while edit runs. Where edit returns an error nothing is changed. Once a
// request is committed nothing more can be staged: [ErrCommitted].
func (s *Session) Stage(ctx Canceler, edit func(*Staged) error) error {
	return s.locked(ctx, func() error {
		if err := s.uncommitted(); err != nil {
			return err
		}
		staged, err := s.Staged()
		if err != nil {
			return err
		}
		if err := edit(&staged); err != nil {
			return err
		}
		return s.saveStaged(staged)
	})
}

// Committed says whether a request is committed and not yet read by the kernel.
func (s *Session) Committed() (bool, error) {
	_, err := s.dir.Lstat(CommittedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *Session) uncommitted() error {
	committed, err := s.Committed()
	if err == nil && committed {
		err = ErrCommitted
	}
	return err
}

// CommitSleep makes a committed request of the launches, note and submit that
// are staged, and returns it. The session is to end its process next: the
// kernel reads the request only then.
func (s *Session) CommitSleep(ctx Canceler) (Sleep, error) {
	var sleep Sleep
	err := s.commit(ctx, func(staged *Staged) (r Request, err error) {
		sleep, err = CheckSleep(staged.sleep())
		return Request{Sleep: &sleep}, err
	})
	if err != nil {
		return Sleep{}, err
	}
	return sleep, nil
}

// CommitVerdict makes a committed request of the findings that are staged. Its
// notes are those given, or where that is "" the notes that are staged: a peer's
// program may have put them there, and committing would discard them.
func (s *Session) CommitVerdict(ctx Canceler, notes string) (Verdict, error) {
	var verdict Verdict
	err := s.commit(ctx, func(staged *Staged) (Request, error) {
		verdict = Verdict{Findings: staged.Findings, Notes: notes}
		if notes == "" {
			verdict.Notes = staged.Notes
		}
		return Request{Verdict: &verdict}, CheckVerdict(verdict)
	})
	if err != nil {
		return Verdict{}, err
	}
	return verdict, nil
}

func (s *Session) commit(ctx Canceler, build func(*Staged) (Request, error)) error {
	return s.locked(ctx, func() error {
		// A second commit would take the place of the first, and the launches of
		// that would be lost without a word.
		if err := s.uncommitted(); err != nil {
			return err
		}
		staged, err := s.Staged()
		if err != nil {
			return err
		}
		request, err := build(&staged)
		if err != nil {
			return err
		}
		raw, err := request.Encode()
		if err != nil {
			return err
		}
		if most := request.maxBytes(); len(raw) > most {
			return refuseSize(int64(most))
		}
		if err := s.dir.Publish(CommittedFile, raw, dirfd.Volatile); err != nil {
			return fmt.Errorf("committing the request: %w", err)
		}
		return s.dropStaged()
	})
}

func (r Request) maxBytes() int {
	if r.Verdict != nil {
		return MaxVerdictBytes
	}
	return MaxSleepBytes
}

func (s *Session) dropStaged() error {
	if err := s.dir.Remove(StagedFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what was staged: %w", err)
	}
	return nil
}

// Cancel discards what is staged and takes a committed request back, as long as
// the session has not ended. It says which of the two there was.
func (s *Session) Cancel(ctx Canceler) (staged, committed bool, err error) {
	err = s.locked(ctx, func() error {
		if _, err := s.dir.Lstat(StagedFile); err == nil {
			staged = true
		}
		if err := s.dropStaged(); err != nil {
			return err
		}
		err := s.dir.Remove(CommittedFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		committed = err == nil
		return err
	})
	return staged, committed, err
}

// locked runs do while no other program of the session stages, commits or
// leaves a marker.
func (s *Session) locked(ctx Canceler, do func() error) (err error) {
	unlock, err := s.dir.Lock(ctx, lockFile, lockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return do()
}
