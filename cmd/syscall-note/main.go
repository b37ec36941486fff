// Syscall-note stages a note to yourself, which you are given back when you wake.
//
// Usage:
//
//	syscall-note [flags] TEXT... | -
//
// Say what you were testing and what you mean to do with the results. A note holds
// at most 2000 characters; longer ones belong in a file of the workspace. A second
// note replaces the first. With "-" the text is read from standard input; text
// that begins with a dash goes after "--".
//
// Flags:
//
//	--json     print JSON
//	--help     print this and exit
//	--version  print the version and exit
//
// Examples:
//
//	syscall-note "rates tests if 3e-4 is steadier; next: the same for 5-gram"
//	syscall-note - <plan.txt
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

func main() { os.Exit(verbs.Main(verbs.Note)) }
