#!/bin/sh
# Runs one point of a sweep.
#
#	sh point.sh FLAGS...
#
# Each argument holds the flags of one point in a single word, as in
# '-order 4 -strength 8'; the task takes the one that SWEEP_INDEX names.
set -eu

[ $# -gt "$SWEEP_INDEX" ] || { echo "point.sh: error: there is no point $SWEEP_INDEX among $#" >&2; exit 2; }
shift "$SWEEP_INDEX"

# shellcheck disable=SC2086 # several flags in one word
exec ./bitsperbyte -src "$(cat sources.txt)" -out result.json $1
