package engine

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

// seenRecords keeps what earlier passes of this process have read, so that a
// pass over thousands of parked runs costs a stat for each and not its record
// anew. The zero value keeps nothing yet. It is only for deciding which runs to
// look at: whoever moves one reads its record under the lock.
type seenRecords struct {
	mu   sync.Mutex
	kept map[string]seenRecord // by run
}

type seenRecord struct {
	file os.FileInfo
	rec  Record
}

// settledAge is how long a record must have lain untouched before it is kept.
// A younger one may be replaced within the same tick of the filesystem's clock,
// by a file of the same size and even of the same number.
const settledAge = 2 * time.Second

// load is loadRecord for all runs of a pass, in the order of the ids; each gets
// its record or why there is none. Callers must not change what a record points
// to.
func (s *seenRecords) load(root Root, ids []string, each func(Record, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := make(map[string]seenRecord, len(ids)) // runs that are gone are forgotten
	for _, id := range ids {
		dir := root.RunDir(id)
		// Before the record is read: what replaces it meanwhile is then another file.
		file, statErr := os.Stat(filepath.Join(dir, "run.json"))
		if old, ok := s.kept[id]; ok && statErr == nil && sameFile(old.file, file) {
			now[id] = old
			each(old.rec, nil)
			continue
		}
		rec, err := loadRecord(dir, id)
		if err == nil && statErr == nil && time.Since(file.ModTime()) > settledAge {
			now[id] = seenRecord{file, rec}
		}
		each(rec, err)
	}
	s.kept = now
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
