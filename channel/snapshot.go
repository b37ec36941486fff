package channel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Budget returns what the kernel last wrote of the budgets; ok is false where
// it wrote nothing, as kernels without budgets do.
func (s *Session) Budget() (b Budget, ok bool, err error) {
	ok, err = s.readJSON(BudgetFile, &b)
	return b, ok, err
}

// Siblings returns the other agents' runs as of this leg's start.
func (s *Session) Siblings() (list []Sibling, ok bool, err error) {
	ok, err = s.readJSON(SiblingsFile, &list)
	return list, ok, err
}

// maxSnapshotBytes bounds what the kernel writes for a session at a leg's start.
const maxSnapshotBytes = 1 << 20

func (s *Session) readJSON(file string, into any) (ok bool, err error) {
	raw, err := s.dir.ReadSmall(file, maxSnapshotBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", file, err)
	}
	return true, nil
}
