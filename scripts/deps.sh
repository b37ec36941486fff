#!/bin/sh
# Sees to it that the programs named are there, by apt-get where this is root on
# Debian. What stays missing is said and is no error: the tests that need it say
# so themselves.
#
#	sh scripts/deps.sh PROGRAM...
set -eu

# package PROGRAM prints the Debian packages that a program comes with.
package() {
	case $1 in
	bwrap) echo bubblewrap ;;
	cc) echo gcc libc6-dev ;;
	sbatch) echo slurm-wlm ;;
	munged) echo munge ;;
	mariadbd) echo mariadb-server ;;
	*) echo "$1" ;;
	esac
}

# missing PROGRAM... prints those that are not there.
missing() {
	for program; do
		command -v "$program" >/dev/null || echo "$program"
	done
}

lack=$(missing "$@")
[ -n "$lack" ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	packages=$(for program in $lack; do package "$program"; done)
	export DEBIAN_FRONTEND=noninteractive
	# The tests start daemons of their own; the packages' must not run.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
		trap 'rm -f $policy' EXIT
	fi
	# An index that cannot be refreshed may still do.
	apt-get update -qq || true
	# shellcheck disable=SC2086 # several words
	apt-get install -y -qq --no-install-recommends $packages >/dev/null || true
	lack=$(missing "$@")
fi

for program in $lack; do
	echo "deps: $program is missing: install it (on Debian: apt-get install $(package "$program"))" >&2
done
