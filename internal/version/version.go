// Package version knows which version the programs are.
package version

import "runtime"

// value is set by the Makefile:
//
//	-ldflags "-X github.com/outerloop-go/outerloop/internal/version.value=v1.2.3"
//
// The build information that Go records would say it too, but not in a build
// with -buildvcs=false, which makes programs the same from any checkout of the
// same files; and reading it costs every verb 16 kB.
var value = "(devel)"

// Line is the version with the compiler and platform that the program was built
// by and for.
func Line() string {
	return value + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
