// Syscall-cancel discards what is staged and takes a committed request back.
//
// Usage:
//
//	syscall-cancel [flags]
//
// A request can be taken back as long as your session has not ended. Jobs that
// already run are not touched. Nothing to cancel is no error.
//
// Flags:
//
//	--json     print JSON
//	--help     print this and exit
//	--version  print the version and exit
//
// Examples:
//
//	syscall-cancel
//	syscall-cancel --json
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

func main() { os.Exit(verbs.Main(verbs.Cancel)) }
