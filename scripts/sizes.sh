#!/bin/sh
# Prints the size of each program in BIN and fails for a verb above its bound.
# A verb is copied into every sandbox image, so what it links is weighed. The
# bounds are for linux/amd64; other platforms' code differs by a few percent.
#
#	sh scripts/sizes.sh BIN
set -eu

failed=0 verbs=0
for file in "$1"/*; do
	size=$(($(wc -c <"$file")))
	case ${file##*/} in
	syscall-queue | syscall-history | syscall-sync) bound=2300000 ;; # these wait for an answer
	syscall-*) bound=2200000 ;;
	*) bound= ;;
	esac
	printf '%9d  %s\n' "$size" "${file##*/}"
	[ -n "$bound" ] || continue
	verbs=$((verbs + 1))
	if [ "$size" -gt "$bound" ]; then
		echo "sizes: error: ${file##*/} is above its bound of $bound bytes" >&2
		failed=1
	fi
done
[ "$verbs" -gt 0 ] || { echo "sizes: error: there is no verb in $1: run make build" >&2; exit 1; }
exit $failed
