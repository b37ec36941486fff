#!/bin/sh
# Makes a first run on a Slurm cluster and starts the loop there.
#
#	ACCOUNT=abc123 PARTITION=cpu_short ROOT=/shared/me/outerloop sh examples/slurm/start.sh BIN
#
# BIN is the directory of the programs, on a filesystem that all nodes share. ROOT is a new
# temporary directory where it is not set, which does for a cluster of one machine only.
# With WAIT=yes it stays until the run has ended, and then ends the loop.
set -eu

bin=$(cd "$1" && pwd -P)
root=${ROOT:-$(mktemp -d)/outerloop}
set -- --root "$root" --account "$ACCOUNT"
[ -z "${PARTITION:-}" ] || set -- "$@" --partition "$PARTITION"

# The author of this run is a script. See examples/claude for agents.
author=$(mktemp)
trap 'rm -f "$author"' EXIT
cat >"$author" <<'AUTHOR'
case $OUTERLOOP_LEG in
0)
	syscall-launch --name nodes --minutes 5 --artifact node -- sh -c 'uname -n >node'
	syscall-sleep
	;;
1)
	echo "The job ran on $(cat .outerloop/results/nodes/node)." >report.md
	syscall-submit --report report.md
	syscall-sleep
	;;
esac
AUTHOR
mkdir -p "$root"
echo 'Find out where jobs run.' >"$root/task.md"

"$bin/outerloop-tick" new "$@" --run first --prompt "$root/task.md" -- sh -c "$(cat "$author")"
"$bin/outerloop-tick" start "$@"
[ "${WAIT:-no}" = yes ] || exit 0

tries=300
until "$bin/outerloop-tick" status --root "$root" --json | grep -q '"outcome"' || [ $tries -eq 0 ]; do
	sleep 1
	tries=$((tries - 1))
done
"$bin/outerloop-tick" pause --root "$root"
"$bin/outerloop-tick" status --root "$root"
cat "$root/runs/first/report.md"
