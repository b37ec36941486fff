// Syscall-sleep commits what is staged, to run once your session has ended.
//
// Usage:
//
//	syscall-sleep [flags]
//
// Launches, note and submit become the one request that the kernel reads when your
// process is gone, so end your session next. You are woken when the launches are
// over, with their results and your note. Until you end, syscall-cancel takes the
// request back. A note alone is enough to be woken again.
//
// Flags:
//
//	--json     print JSON
//	--help     print this and exit
//	--version  print the version and exit
//
// Examples:
//
//	syscall-sleep
//	syscall-sleep --json
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

func main() { os.Exit(verbs.Main(verbs.Sleep)) }
