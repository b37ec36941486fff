package channel

import (
	"strings"
	"time"

	"github.com/outerloop-go/outerloop/internal/dirfd"
)

const (
	// sweepNames bounds a sweep, whatever a session has put beside.
	sweepNames = 4096
	// sweepAge is how old a temporary file must be. It is far beyond what a publish
	// takes, and beyond what the clocks of two machines differ by.
	sweepAge = time.Hour
)

// sweep removes the temporary files of kernels and sessions that were killed before they
// could rename them, and what was moved aside. Nobody waits for it and nothing depends on
// it, so what fails is left for the next time. A directory that was moved aside stays: it
// may hold a million entries of a session's.
func sweep(dir *dirfd.Dir) {
	names, _, err := dir.List(sweepNames)
	if err != nil {
		return
	}
	for _, untrustedName := range names {
		if !strings.HasPrefix(untrustedName, ".tmp-") && !strings.HasPrefix(untrustedName, ".discarded-") {
			continue
		}
		if st, err := dir.Lstat(untrustedName); err == nil && time.Since(st.ModTime) > sweepAge {
			_ = dir.Remove(untrustedName)
		}
	}
}
