#!/bin/sh
# Runs every check, also after one has failed, and names those that did.
#
#	make lint
set -u

failed=

check() {
	echo "lint: $1"
	"$1" "$2" || failed="$failed $1"
}

# The sizes are those of a fresh build.
build() { mkdir -p "$1" && sh -c "$GOBUILD"' -o "$0" ./cmd/...' "$1/"; }

vet_linux() { GOOS=linux $GO vet ./...; }

# Kernels run on Linux only, but their code and tests compile elsewhere too.
vet_darwin() { GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $GO vet ./...; }

format() {
	difference=$($GOTOOL gofumpt -d .) && [ -z "$difference" ] && return
	printf '%s\nfix: make fmt\n' "$difference"
	return 1
}

staticcheck() { $GOTOOL staticcheck ./...; }

tidy() { $GO mod tidy -diff && $GO -C tools mod tidy -diff && $GO -C tools/nfpm mod tidy -diff; }

# Not from the cache, which does not know what the test's "go list" reads.
arrows() { $GO test -count=1 ./internal/arrows; }

shell() {
	for file in scripts/*.sh examples/*/*.sh; do
		sh -n "$file" || return
	done
	bash -n .ci/run || return
	# Where it is installed, as .ci/run sees to.
	if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh examples/*/*.sh .ci/run; fi
}

sizes() { sh scripts/sizes.sh "$1"; }

for name in build vet_linux vet_darwin format staticcheck tidy arrows shell sizes; do
	check "$name" "$1"
done
[ -z "$failed" ] || { echo "lint: failed:$failed" >&2; exit 1; }
