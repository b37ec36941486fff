#!/bin/sh
# Plays the agent of the demo: three legs of one run, each a process of its own
# that knows only its prompt, its workspace and what the kernel brought back.
#
# It uses nothing but a POSIX shell, cat, sed, sort and the syscall programs, for
# a sandbox need not hold more. Whatever fails ends it: a leg without a request
# ends the run, and the demo says so.
#
# shellcheck disable=SC2046,SC2086 # words are split on purpose, there are no arrays
set -eu
export LC_ALL=C

first_order=3 # the guess to beat, stated before anything was measured
orders='1 2 3 4 5 6 7 8'
strengths='8 32 128 512'

fail() {
	printf 'author: error: %s\n' "$*" >&2
	exit 1
}

# field NAME FILE prints a number out of a result, which has one field a line.
field() {
	sed -n 's/^ *"'"$1"'": *\([0-9.]*\),\{0,1\}$/\1/p' "$2"
}

# collect LAUNCH TASKS prints "order strength bits-per-byte" for each task.
collect() {
	task=0
	while [ "$task" -lt "$2" ]; do
		file=.outerloop/results/$1/$task/result.json
		[ -f "$file" ] || fail "task $task of $1 left no $file; the prompt says how it ended"
		order=$(field order "$file") strength=$(field strength "$file") bits=$(field bits_per_byte "$file")
		if [ -z "$order" ] || [ -z "$strength" ] || [ -z "$bits" ]; then
			fail "$file is not a result: $(cat "$file")"
		fi
		echo "$order $strength $bits"
		task=$((task + 1))
	done
}

# best FILE prints the collected line with the fewest bits.
best() {
	sort -k 3,3n -k 1,1n "$1" | sed -n 1p
}

# millionths NUMBER prints a number with up to six decimals as an integer, for
# the shell has no other arithmetic.
millionths() {
	printf '%.6f' "$1" | sed 's/\.//; s/^0*\([0-9]\)/\1/'
}

# table FILE prints collected lines as Markdown.
table() {
	echo '| order | strength | bits per byte |'
	echo '| ---: | ---: | ---: |'
	while read -r order strength bits; do
		echo "| $order | $strength | $bits |"
	done <"$1"
	echo
}

# Leg 0: which order is best while all else is at its default?
explore() {
	printf '%s\n' "$prompt" | sed -n 's/^Sources: //p' | sed -n 1p >sources.txt
	[ -s sources.txt ] || fail 'the prompt has no line "Sources: DIRECTORY"'

	set --
	for order in $orders; do
		set -- "$@" "-order $order"
	done
	syscall-launch --name orders --minutes 5 --array $# --concurrency 2 \
		--why "which order is best at the default strength" \
		--artifact result.json -- sh point.sh "$@"
	syscall-note "Orders $orders are being measured. Next: read results/orders, then vary the strength around the best order."
	syscall-queue
	syscall-sleep
}

# Leg 1: a longer context has fewer counts and must trust the shorter ones more,
# so the best order is looked for again together with the strength.
refine() {
	collect orders $# >orders.txt
	set -- $(best orders.txt)
	echo "best of the first sweep: order $1 with $3 bits per byte"

	order=$1
	set --
	for o in "$order" $((order + 1)) $((order + 2)) $((order + 4)); do
		for s in $strengths; do
			set -- "$@" "-order $o -strength $s"
		done
	done
	echo $# >tasks.txt
	syscall-launch --name strengths --minutes 5 --array $# --concurrency 2 \
		--why "does more weight on shorter contexts let longer ones pay" \
		--artifact result.json -- sh point.sh "$@"
	syscall-note "Order $order is best at the default strength (orders.txt). Strengths $strengths are being measured from there up. Next: the report."
	syscall-status
	syscall-sleep
}

# Leg 2: what came of it?
conclude() {
	collect strengths "$(cat tasks.txt)" >strengths.txt
	syscall-history >history.txt
	cat history.txt

	guess=$(sed -n "s/^$first_order [^ ]* //p" orders.txt)
	[ -n "$guess" ] || fail "orders.txt has no line for the first guess, order $first_order"
	cat orders.txt strengths.txt >all.txt
	longest=$(sort -n all.txt | sed -n '$s/ .*//p')
	report "$guess" $(best all.txt) >report.md
	cat report.md
	syscall-submit --report report.md
	syscall-sleep
}

# report GUESS ORDER STRENGTH BITS prints the report: the bits of the first guess,
# and the best point of all.
report() {
	before=$(millionths "$1") after=$(millionths "$4")
	gain=$(((before - after) * 1000 / before))
	gain=$((gain / 10)).$((gain % 10))

	echo '# How few bits does a byte of Go need?'
	echo
	echo "Outcome: $4 bits per byte with order $2 and strength $3, $gain % less than the first guess."
	echo
	echo "The first guess, order $first_order at the default strength, needs $1 bits per byte."
	set -- "$2" "$3" "$4" $(best orders.txt)
	echo "At that strength order $4 is best, with $6. Of all that was tried, order $1 with"
	echo "strength $2 is, with $3."
	[ "$1" -lt "$longest" ] || echo "No longer context was tried, so a longer one may do better still."
	echo
	echo '## Orders at the default strength'
	echo
	table orders.txt
	echo '## Orders and strengths'
	echo
	table strengths.txt
}

cd "$OUTERLOOP_WORKSPACE"
prompt=$(cat)
case $OUTERLOOP_LEG in
0) explore ;;
1) refine $orders ;;
2) conclude ;;
*) fail "leg $OUTERLOOP_LEG was not foreseen; its prompt was: $prompt" ;;
esac
