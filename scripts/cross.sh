#!/bin/sh
# Builds for every platform that is supported into DIST/<os>-<arch>: all programs
# for Linux; the verbs elsewhere, with the library packages compiled along.
#
#	make cross
set -eu

build() {
	echo "cross: $1/$2"
	mkdir -p "$dist/$1-$2"
	os=$1 arch=$2
	shift 2
	GOOS=$os GOARCH=$arch sh -c "$GOBUILD"' -o "$0" "$@"' "$dist/$os-$arch/" "$@"
}

dist=$1
build linux amd64 ./...
build linux arm64 ./...
# shellcheck disable=SC2086 # several patterns
build darwin arm64 $PORTABLE
