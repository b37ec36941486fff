// Manuals writes the manual pages and shell completions of all programs.
//
//	go run ./internal/manual/cmd/manuals DIR VERSION
//
// DIR stands for <prefix>/share.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/outerloop-go/outerloop/internal/manual"
	"github.com/outerloop-go/outerloop/internal/tick"
	"github.com/outerloop-go/outerloop/internal/verbs"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manuals DIR VERSION")
		os.Exit(2)
	}
	if err := manual.Write(os.Args[1], os.Args[2], slices.Concat(tick.Pages(), verbs.Pages())); err != nil {
		fmt.Fprintln(os.Stderr, "manuals: error:", err)
		os.Exit(1)
	}
}
