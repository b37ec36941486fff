#!/bin/sh
# One real run on this machine, from the first prompt to the submitted report.
#
#	sh examples/sweep/demo.sh BIN
#
# DEMO_FLAGS are flags of outerloop-tick new that say where it runs, --local unless
# they are set. BIN is the directory with outerloop-tick and the syscall programs; "make demo"
# builds and passes it. Everything else lies in a new temporary directory, or in
# DEMO_DIR, which must be empty. It is kept, so that it can be looked at; with
# DEMO_CLEAN=1 one that the demo made itself is removed where all went well.
#
# The exit status is 0 only if the run ended as submitted with every task done.
set -eu

run=sweep
tasks=24 # 8 orders, then 16 points around the best

fail() {
	printf 'demo: error: %s\n' "$1" >&2
	printf 'demo: hint: %s\n' "$2" >&2
	exit 1
}

say() {
	printf '\n== %s\n' "$*"
}

[ $# -eq 1 ] || { echo 'usage: sh examples/sweep/demo.sh BIN' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd -P)
bin=$(cd "$1" && pwd -P)
tick=$bin/outerloop-tick
[ -x "$tick" ] || fail "$tick is not there" "run make build"
for tool in go git; do
	command -v "$tool" >/dev/null || fail "$tool is not installed" "install it and run make demo again"
done

dir=${DEMO_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/outerloop-demo.XXXXXX")}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)
[ -z "$(ls -A "$dir")" ] || fail "$dir is not empty" "name another directory in DEMO_DIR, or none"
root=$dir/state workspace=$dir/workspace
mkdir "$root" "$workspace"

# The sandbox shows the sources at the path that the author is told, so it must
# be the real one: GOROOT or its src are links on some systems.
src=$(cd "$(go env GOROOT)/src" && pwd -P)

say "building the experiment in $workspace"
(cd "$here" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$workspace/bitsperbyte" ./bitsperbyte)
cp "$here/author.sh" "$here/point.sh" "$workspace"
{
	cat "$here/prompt.md"
	printf '\nSources: %s\n' "$src"
} >"$dir/prompt.md"

say "running $run until it is idle (state in $root)"
# shellcheck disable=SC2086 # several flags
"$tick" new --root "$root" ${DEMO_FLAGS:---local} --run "$run" --agent sweeper --workspace "$workspace" \
	--prompt "$dir/prompt.md" --launches 2 --sleeps 3 --read "$src" -- sh author.sh

# Jobs and legs are detached on purpose; whoever breaks off the demo wants them gone.
trap '"$tick" end --root "$root" "$run" || true; exit 130' INT TERM HUP
"$tick" --root "$root" --loop --until-idle
trap - INT TERM HUP

record=$root/runs/$run
ledger=$record/launches.jsonl
if ! "$tick" status --root "$root" --json | grep -Eq '"outcome": ?"submitted"'; then
	"$tick" status --root "$root" >&2
	tail -n 5 "$record"/legs/*/stderr >&2 || true
	fail "the run did not end as submitted" "each leg's prompt and output are in $record/legs"
fi
ended=$(grep -E '"event": ?"ended"' "$ledger" | grep -Ec '"exit_code": ?0[,}]' || true)
[ "$ended" -eq "$tasks" ] ||
	fail "$ended of $tasks tasks are in the ledger as done" "see $ledger"
[ -s "$record/report.md" ] || fail "there is no report in $record" "each leg's prompt and output are in $record/legs"

say 'the report that was submitted'
cat "$record/report.md"
say 'the history, as syscall-history showed it in the last leg'
cat "$workspace/history.txt"
say 'the run'
"$tick" status --root "$root"
if [ "${DEMO_CLEAN:-}" = 1 ] && [ -z "${DEMO_DIR:-}" ]; then
	rm -r "$dir"
	exit
fi
cat <<TXT

report       $record/report.md
ledger       $ledger
legs         $record/legs
jobs         $record/eval-launch-orders.0 and on
sealed code  $record/seal.git
workspace    $workspace

rm -r '$dir'    removes all of it
TXT
