#!/bin/sh
# Reads the output of "go test -v" and fails if a test was skipped that this
# machine could have run. The one excuse is a sandbox that cannot work here, as in
# a container that may not make namespaces; such a test names bwrap in its reason.
#
#	sh scripts/skips.sh FILE
set -eu

excuse='^$'
if ! bwrap --ro-bind / / --unshare-all true 2>/dev/null; then
	echo 'skips: bwrap does not work on this machine; tests may be skipped for that' >&2
	excuse='bwrap|bubblewrap'
fi

# The reason stands on the line before; where parallel tests have come between,
# it is lost and the skip counts.
awk -v excuse="$excuse" '
	/^ *--- SKIP: / && reason !~ excuse { print reason; print; skipped++ }
	{ reason = $0 }
	END {
		if (skipped) print "skips: error: " skipped " tests were skipped that could have run here"
		exit skipped > 0
	}' "$1" >&2
