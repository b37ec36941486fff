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
	for i := range staged.Launches {
		// A key that a peer left out means its empty value, and a launch's empty
		// walltime and width are the defaults.
		l := &staged.Launches[i]
		if l.Minutes == 0 {
			l.Minutes = DefaultMinutes
		}
		if l.Array == 0 {
			l.Array = 1
		}
		l.Artifacts = orEmpty(l.Artifacts)
	}
	return staged, nil
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
