// Syscall-submit stages the claim that the workspace is worth merging, with a report that says why.
//
// Usage:
//
//	syscall-submit --report FILE [flags]
//
// At syscall-sleep the workspace is sealed as it is then, and the gate measures it
// where one is set up; you are woken with the verdict unless that ends the run.
//
// The report is Markdown: what you expected, what you ran and measured, why it
// should be merged, and what did not work. It is read now, so that later changes of
// the file do not count, and holds at most 8000 characters. A relative FILE is looked
// for below the workspace's root, wherever you stand. A second submit replaces the
// first.
//
// Flags:
//
//	--report FILE  the report; required
//	--minutes N    walltime of the gate, 1 to 1440 (default the gate's own)
//	--json         print JSON
//	--help         print this and exit
//	--version      print the version and exit
//
// Examples:
//
//	syscall-submit --report report.md
//	syscall-submit --report docs/attempt.md --minutes 90
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

func main() { os.Exit(verbs.Main(verbs.Submit)) }
