package channel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// Staged is what a session has put together so far. Only the session's own
// programs read it; a peer's may have written it.
type Staged struct {
	Launches    []Launch  `json:"launches"`
	Note        string    `json:"note"`
	Submit      bool      `json:"submit"`
	EvalMinutes *int      `json:"eval_minutes"`
	Report      string    `json:"report"`
	Findings    []Finding `json:"findings"`
	Notes       string    `json:"notes"`
}

// Empty says that nothing at all is staged.
func (s *Staged) Empty() bool {
	return len(s.Launches) == 0 && s.Note == "" && !s.Submit && len(s.Findings) == 0 && s.Notes == ""
}

// sleep is the staged content as a request that ends a leg.
func (s *Staged) sleep() Sleep {
	out := Sleep{Launches: s.Launches, Note: s.Note, Submit: s.Submit}
	if s.Submit {
		out.Report = s.Report
		if s.EvalMinutes != nil {
			out.EvalMinutes = *s.EvalMinutes
		}
	}
	return out
}

// Committed is a committed request as the session's own programs show it: what was
// staged for it. Whether it is within the bounds [ParseRequest] says.
type Committed struct {
	Type string `json:"type"` // sleep or verdict
	Staged
}

// Request returns what is committed and not yet read by the kernel. Where nothing is,
// the error is [ErrNothingCommitted]; what is no JSON object of that form is a
// *[RefusedError], as it will be to the kernel.
func (s *Session) Request() (Committed, error) {
	var c Committed
	raw, err := s.dir.ReadSmall(CommittedFile, MaxVerdictBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return c, ErrNothingCommitted
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return Committed{}, refuse(CommittedFile, "take it back with syscall-cancel and commit anew", "it cannot be read: %v", err)
	}
	c.fill()
	return c, nil
}

// maxStagedBytes bounds the staging file: a full verdict and a full sleep fit.
const maxStagedBytes = 4 << 20

// Staged returns what is staged; nothing staged is the zero value.
func (s *Session) Staged() (Staged, error) {
	var staged Staged
	raw, err := s.dir.ReadSmall(StagedFile, maxStagedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return staged, nil
	}
	if err != nil {
		return Staged{}, fmt.Errorf("reading what is staged: %w", err)
	}
	if err := json.Unmarshal(raw, &staged); err != nil {
		return Staged{}, refuse(StagedFile, "discard it with syscall-cancel and stage anew", "what is staged cannot be read: %v", err)
	}
	staged.fill()
	return staged, nil
}

// fill sets what a peer left out: a key that is missing means its empty value, and a
// launch's empty walltime and width are the defaults.
func (s *Staged) fill() {
	for i := range s.Launches {
		l := &s.Launches[i]
		if l.Minutes == 0 {
			l.Minutes = DefaultMinutes
		}
		if l.Array == 0 {
			l.Array = 1
		}
		l.Artifacts = orEmpty(l.Artifacts)
	}
}

func (s *Session) saveStaged(staged Staged) error {
	staged.Launches = orEmpty(staged.Launches)
	staged.Findings = orEmpty(staged.Findings)
	raw, err := encode(staged)
	if err != nil {
		return err
	}
	// What could not be read back would stop every verb but cancel.
	if len(raw) > maxStagedBytes {
		return refuse(StagedFile, "commit or discard what is staged, or stage shorter texts",
			"%d bytes would be staged, at most %d are allowed", len(raw), maxStagedBytes)
	}
	return s.dir.Publish(StagedFile, raw, dirfd.Volatile)
}
