package seal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits bound what one seal may hold and cost. A field that is zero takes the
// value of [DefaultLimits].
type Limits struct {
	// Files is the number of files and links in a seal.
	Files int
	// Entries is the number of names looked at, those that rules leave out
	// included. A directory that is left out as a whole counts as one.
	Entries int
	// FileBytes is the size of one file.
	FileBytes int64
	// TotalBytes is the sum of the sizes of all files.
	TotalBytes int64
	// Depth is the number of directories on the way to a file.
	Depth int
	// RulesBytes is the size of one .gitignore, and RulesTime what git may take
	// in all to apply them: a dozen "**/" in one pattern take it years.
	RulesBytes int64
	RulesTime  time.Duration
}

// DefaultLimits fit a source tree as large as Linux, and stop a data set or an
// environment that was left in the workspace before it fills the operator's disk
// once per sleep.
func DefaultLimits() Limits {
	return Limits{
		Files:      100_000,
		Entries:    500_000,
		FileBytes:  256 << 20,
		TotalBytes: 2 << 30,
		Depth:      64,
		RulesBytes: 64 << 10,
		RulesTime:  time.Minute,
	}
}

// maxPath is the length of a path in bytes. Below the shadow directory git
// needs room for "/.gitignore" within the 4,096 bytes of PATH_MAX.
const maxPath = 3840

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Files:      cmp.Or(l.Files, d.Files),
		Entries:    cmp.Or(l.Entries, d.Entries),
		FileBytes:  cmp.Or(l.FileBytes, d.FileBytes),
		TotalBytes: cmp.Or(l.TotalBytes, d.TotalBytes),
		Depth:      cmp.Or(l.Depth, d.Depth),
		RulesBytes: cmp.Or(l.RulesBytes, d.RulesBytes),
		RulesTime:  cmp.Or(l.RulesTime, d.RulesTime),
	}
}

// LimitError says that a workspace exceeds a bound. Nothing was sealed. Its
// message names the cause and the cure and is meant for the author.
type LimitError struct {
	Cause   string  // what is too much, with the bound
	Cure    string  // what the author can do
	Biggest []Usage // where most of it lies, at most three, heaviest first
}

func (e *LimitError) Error() string {
	var b strings.Builder
	b.WriteString(e.Cause)
	for i, u := range e.Biggest {
		lead := ", "
		if i == 0 {
			lead = "; most of it in "
		}
		fmt.Fprintf(&b, "%s%s (%s)", lead, printable(u.UntrustedPath), u.Amount)
	}
	return b.String() + ". " + e.Cure
}

const (
	cureIgnore  = "List what jobs do not need in .gitignore, or delete it."
	cureRules   = "Use fewer and plainer patterns."
	cureFlatten = "Move it up, list it in .gitignore, or delete it."
)

// printable shows a name of the session's choosing so that it can neither break
// a line nor fill a screen.
func printable(untrustedPath string) string {
	const max = 200
	if len(untrustedPath) > max {
		untrustedPath = untrustedPath[:max/2] + "..." + untrustedPath[len(untrustedPath)-max/2:]
	}
	if quoted := strconv.Quote(untrustedPath); quoted != `"`+untrustedPath+`"` || strings.Contains(quoted, " ") {
		return quoted
	}
	return untrustedPath
}
