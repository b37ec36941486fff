#!/bin/sh
# Runs the races between the kernel and a hostile session at full size, with the race
# detector: ROUNDS rounds of each, 100,000 unless something else is said. That took 25
# minutes on two cores that had other work.
#
#	sh scripts/soak.sh [ROUNDS]
set -eu

OUTERLOOP_SOAK=${1:-100000}
export OUTERLOOP_SOAK
CGO_ENABLED=1 $GO test -race -count 1 -timeout 2h -run 'Race|Swap|Chang|Together|Close|Overtaken|Plant|ManyEntries' \
	./internal/dirfd ./internal/seal ./channel
