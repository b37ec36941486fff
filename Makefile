# "make help" lists what there is. Longer recipes are in scripts/.

GO      ?= go
BIN     ?= bin
DIST    ?= dist
GOTOOL   = $(GO) tool -modfile=tools/go.mod
# No cgo, no paths, no dates: the same source and Go release give the same bytes anywhere.
GOBUILD  = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false \
           -ldflags '-s -w -buildid= -X github.com/outerloop-go/outerloop/internal/version.value=$(VERSION)'
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# What has to build and vet outside Linux as well: the library and the verbs.
PORTABLE = ./channel/... ./ledger/... ./slurm/... ./watcher/... \
           ./internal/dirfd/... ./internal/nearest/... ./internal/render/... ./internal/verbs/... ./cmd/syscall-...

export GO GOTOOL GOBUILD PORTABLE

.PHONY: help build demo slurm-demo test bench bench-short benchstat soak-scale fuzz soak sizes lint fmt install share cross packages clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 8

build: ## build the programs into bin/, static and reproducible
	@mkdir -p $(BIN)
	$(GOBUILD) -o $(BIN)/ ./cmd/...

demo: build ## run a real piece of research on this machine, in about half a minute
	@sh examples/sweep/demo.sh $(BIN)

slurm-demo: build ## the same on a real Slurm cluster that exists only for that; needs root on Debian
	@sh scripts/deps.sh git bwrap sbatch slurmdbd munged mariadbd
	$(GO) run ./internal/slurmtest/cmd/slurmrig --accounting -- \
		env DEMO_CLEAN=1 DEMO_FLAGS='--account research --memory 2000' sh examples/sweep/demo.sh $(BIN)

test: ## install what the tests call where that is possible, then run them all
	@sh scripts/deps.sh git bwrap strace cc python3 sbatch slurmdbd munged mariadbd mandoc zsh fish rpm chromium
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(TESTFLAGS) ./...

# What is measured runs beside what it is measured against; see internal/bench.
BENCHDIR ?= .

bench: sizes ## measure every target against its yardstick, in a few minutes, and print the table
	$(GO) run ./internal/bench/cmd/bench -disk $(BENCHDIR) $(BENCHFLAGS) $(BIN)

bench-short: BENCHFLAGS = -short
bench-short: bench ## the same in under a minute; fails where a figure is half again as bad as its target

benchstat: build ## run the Go benchmarks of that name, ten times each, for benchstat to compare
	@$(GO) test -run '^$$' -bench . -benchmem -count 10 ./internal/bench ./watcher ./ledger ./internal/render

SOAK ?= 10m

soak-scale: build ## ask for ten minutes in 10,000 channels beside one that floods
	$(GO) run ./internal/bench/cmd/bench -soak $(SOAK) $(BIN)

FUZZTIME ?= 10m

fuzz: ## fuzz every parser in turn, FUZZTIME each
	@sh scripts/fuzz.sh $(FUZZTIME)

soak: ## race the kernel against a hostile session at full size, and kill it at every operation
	@sh scripts/soak.sh $(or $(ROUNDS),100000) $(PART)

sizes: build ## print the size of each program, and fail above its bound
	@sh scripts/sizes.sh $(BIN)

lint: ## check form, imports, dependencies and sizes
	@sh scripts/lint.sh $(BIN)

fmt: ## format the Go files the way lint wants them
	$(GOTOOL) gofumpt -w .

PREFIX ?= /usr/local

install: build share ## put programs, manual pages and completions below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share
	install -m 755 $(BIN)/syscall-* $(BIN)/outerloop-tick $(DESTDIR)$(PREFIX)/bin
	cp -R $(DIST)/share/. $(DESTDIR)$(PREFIX)/share
	install -d $(DESTDIR)$(PREFIX)/share/outerloop/authors
	install -m 644 examples/claude/*.sh examples/claude/brief.md $(DESTDIR)$(PREFIX)/share/outerloop/authors

share: ## write the manual pages and shell completions into dist/share
	@rm -rf $(DIST)/share
	$(GO) run ./internal/manual/cmd/manuals $(DIST)/share $(VERSION)

cross: ## build for the other platforms into dist/
	@sh scripts/cross.sh $(DIST)

packages: share ## make Debian and RPM packages in dist/, for amd64 and arm64
	@VERSION=$(VERSION) sh scripts/packages.sh $(DIST) $(ARCHS)

clean: ## remove what was built
	rm -rf $(BIN) $(DIST)
