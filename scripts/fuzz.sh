#!/bin/sh
# Fuzzes every parser of what sessions and schedulers say, one after the other, and
# fails at the first input that breaks one. Go keeps that input below the package's
# testdata/fuzz, where it is a test from then on.
#
#	sh scripts/fuzz.sh TIME [PATTERN]
#
# TIME is for each target, such as 10m. PATTERN chooses targets by name, as for grep -E.
set -eu

time=$1 pattern=${2:-.}
# shellcheck disable=SC2046 # several files
grep -l '^func Fuzz' $(find channel ledger slurm watcher internal -name '*_test.go') | sort | while read -r file; do
	package=./$(dirname "$file")
	sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$file" | grep -E "$pattern" | while read -r target; do
		echo "fuzz: $target in $package for $time"
		# shellcheck disable=SC2086 # several flags, or none
		$GO test -run '^$' -fuzz "^$target\$" -fuzztime "$time" ${FUZZFLAGS:-} "$package"
	done
done
