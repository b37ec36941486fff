// Syscall-status shows all that is staged or committed, and what is left of the budgets and of this leg's time.
//
// Usage:
//
//	syscall-status [flags]
//
// It reads files only and needs no kernel. With --json the keys are "workspace";
// "committed"; "request", with the keys of "staged" and "type", null where none is
// committed or it cannot be read; "staged"; "budget", null where none was set; and "leg", with
// "number", "ends_at" in Unix seconds and "seconds_left", null where the kernel does
// not say when the leg ends.
//
// Flags:
//
//	--json     print JSON
//	--help     print this and exit
//	--version  print the version and exit
//
// Examples:
//
//	syscall-status
//	syscall-status --json
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

func main() { os.Exit(verbs.Main(verbs.Status)) }
