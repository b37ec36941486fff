// Syscall-conclude commits the findings that are staged as a judge's verdict.
//
// Usage:
//
//	syscall-conclude [flags]
//
// It is for a session that judges; the kernel refuses a verdict of an author's run.
// The verdict is read when your process is gone, so end your session next; until
// then syscall-cancel takes it back. A verdict without findings says that nothing
// was found. Notes hold at most 6000 characters; those that are staged already count
// where --notes is not given.
//
// Flags:
//
//	--notes TEXT  what else there is to say
//	--json        print JSON
//	--help        print this and exit
//	--version     print the version and exit
//
// Examples:
//
//	syscall-conclude
//	syscall-conclude --notes "read all of it; the figures agree with the logs" --json
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

func main() { os.Exit(verbs.Main(verbs.Conclude)) }
