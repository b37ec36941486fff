// Syscall-history shows the launches of this run so far and how each of their jobs ended.
//
// Usage:
//
//	syscall-history [flags]
//
// Launches are listed sleep by sleep, oldest first. A job that the scheduler ended
// before its command could return has no exit status, and its state says why, such
// as TIMEOUT or OUT_OF_MEMORY.
//
// With --json the answer is printed as the kernel wrote it, with one more key:
// "polled" is true where no file event announced it.
//
// Flags:
//
//	--wait N   wait N seconds for the answer; 0 asks and looks once (default 30)
//	--json     print JSON
//	--help     print this and exit
//	--version  print the version and exit
//
// Examples:
//
//	syscall-history
//	syscall-history --wait 5 --json
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

func main() { os.Exit(verbs.Main(verbs.History)) }
