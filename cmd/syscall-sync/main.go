// Syscall-sync brings the origin/* branches up to date, from the repository that the operator named.
//
// Usage:
//
//	syscall-sync [flags]
//
// The kernel fetches, for a session has no network, and puts the branches into the
// workspace's git repository. Nothing else in there changes: merge or rebase as you
// would after git fetch. It is done when the program ends, and the branches that have
// moved are printed. What git says of the origin in the workspace plays no part.
//
// With --minutes 0 the program asks, looks once and returns; ask again later.
//
// Flags:
//
//	--minutes N  wait N minutes for the answer; 0 asks and looks once (default 35)
//	--json       print JSON
//	--help       print this and exit
//	--version    print the version and exit
//
// Examples:
//
//	syscall-sync
//	syscall-sync --minutes 2 --json
//
// The workspace is the one that OUTERLOOP_WORKSPACE names, else the nearest
// directory upward that has a channel. The exit status is 0 when all is done, 1
// for a failure, and 2 for a wrong call; the cause and a cure are on standard
// error.
package main

import (
	"os"

	"github.com/outerloop-go/outerloop/internal/verbs"
)

func main() { os.Exit(verbs.Main(verbs.Sync)) }
