#!/bin/sh
# Runs the races between the kernel and a hostile session at full size, with the race
# detector: ROUNDS rounds of each, 100,000 unless something else is said. That took 25
# minutes on two cores that had other work. Then it kills each of the kernel's processes
# at every single operation that changes the state root, in a life each; PART is the part
# of these lives that is to be lived, as 1/4, for several machines.
#
#	sh scripts/soak.sh [ROUNDS [PART]]
set -eu

OUTERLOOP_SOAK=${1:-100000}
export OUTERLOOP_SOAK
CGO_ENABLED=1 $GO test -race -count 1 -timeout 2h -run 'Race|Swap|Chang|Together|Close|Overtaken|Plant|ManyEntries' \
	./internal/dirfd ./internal/seal ./channel
# A hostile session beside a whole watcher: the conformance suite, and the floods.
CGO_ENABLED=1 $GO test -race -count 1 -timeout 2h -run 'Conformance|Flood|Poller' ./watcher ./channel/channeltest
OUTERLOOP_CRASH=${2:-1/1} $GO test -count 1 -timeout 4h -parallel 8 ./internal/crash
