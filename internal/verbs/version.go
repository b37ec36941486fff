package verbs

import "runtime"

// version is set when the programs are built for a release:
//
//	-ldflags "-X github.com/outerloop-go/outerloop/internal/verbs.version=v1.2.3"
//
// The build information that Go records would say it too, but not in a build
// with -buildvcs=false, which makes programs the same from any checkout of the
// same files; and reading it costs every verb 16 kB.
var version = "(devel)"

// versionLine is the version with the compiler and platform it was built by and
// for.
func versionLine() string {
	return version + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
