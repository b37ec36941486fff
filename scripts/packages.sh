#!/bin/sh
# Makes Debian and RPM packages in DIST, in two sizes: the verbs alone, and the
# operator's program. What goes in is in scripts/packages/.
#
#	sh scripts/packages.sh DIST [ARCH...]
#
# The same commit and Go release give the same bytes: the only date in a package is
# the commit's.
set -eu

dist=$1
shift
[ $# -gt 0 ] || set -- amd64 arm64

# A package's version begins with a digit and has no dash, which parts it from the
# packaging's own revision.
PACKAGE_VERSION=$(echo "${VERSION#v}" | sed 's/-/+/; s/-/./g')
case $PACKAGE_VERSION in
[0-9]*.[0-9]*) ;;
*) PACKAGE_VERSION=0.0.0+$PACKAGE_VERSION ;;
esac
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export PACKAGE_VERSION SOURCE_DATE_EPOCH

mkdir -p "$dist"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -R "$dist/share" "$stage/share"
gzip -9n "$stage"/share/man/man1/*

for ARCH; do
	STAGE=$stage/$ARCH
	export ARCH STAGE
	mkdir -p "$STAGE/bin"
	ln -s "$stage/share" "$STAGE/share"
	GOOS=linux GOARCH=$ARCH sh -c "$GOBUILD"' -o "$0" ./cmd/...' "$STAGE/bin/"
	for name in outerloop-verbs outerloop; do
		for kind in deb rpm; do
			$GO tool -modfile=tools/nfpm/go.mod nfpm package --config scripts/packages/$name.yaml --packager $kind --target "$dist"
		done
	done
done
