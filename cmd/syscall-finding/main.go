// Syscall-finding stages one finding of a judge's verdict.
//
// Usage:
//
//	syscall-finding --file FILE --kind KIND --confidence LEVEL --summary TEXT [flags]
//
// It is for a session that judges; the kernel refuses a verdict of an author's run.
// What is staged becomes the verdict at syscall-conclude. Each text holds at most
// 6000 characters, and a verdict at most 200 findings. Only with --blocking does a
// finding stand against the work.
//
// Flags:
//
//	--file FILE         what it is about; required
//	--line N            the line, counted from 1 (default none: it is not about one line)
//	--kind KIND         change, suggestion, question or note; required
//	--confidence LEVEL  low, medium or high; required
//	--summary TEXT      the finding in a sentence; required
//	--detail TEXT       what shows it, and what would cure it
//	--category TEXT     a word to sort it by
//	--blocking          the work must not be taken as it is
//	--json              print JSON
//	--help              print this and exit
//	--version           print the version and exit
//
// Examples:
//
//	syscall-finding --file train.py --line 40 --kind change --confidence high --blocking --summary "the test set is trained on"
//	syscall-finding --file README.md --kind question --confidence low --summary "which seed is this?" --json
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

func main() { os.Exit(verbs.Main(verbs.Finding)) }
