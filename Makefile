# Prejoin. `make` alone prints the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# A clone that another user owns has no version control stamp to give.
export GOFLAGS := -buildvcs=false $(filter-out -buildvcs=%,$(GOFLAGS))

GO    ?= go
LINT  := $(GO) tool -modfile=tools/go.mod golangci-lint
CHECK := $(GO) run -C tools ./composecheck ../docker-compose.yml ../.env.example
# PKG limits `make test` to some packages, ARGS is handed to demo and bench.
PKG   ?= ./...
ARGS  ?=

.PHONY: help build test demo bench lint compose fmt tools clean go race curl python

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: go ## Build projector, queryd and devstack into bin/
	$(GO) build -o bin/ ./cmd/...

test: build race curl python ## Run all tests with the race detector on one set of real servers (PKG=./pkg/query limits them)
	bin/devstack exec --bare --settlements 0 -- $(GO) test -race -shuffle=on $(PKG)

demo: build ## Start everything with 200,000 settlements, verify, and serve until Ctrl-C (ARGS=--exit ends after the verification)
	bin/devstack demo $(ARGS)

bench: build ## Run the benches, or those named in ARGS: rounds interleaved, parity before time, JSON lines on stdout
	bin/devstack bench $(ARGS)

lint: go ## Run the linter, and prove that its walls between the packages stand
	scripts/check-walls.sh
	$(LINT) run ./...

compose: go ## Check docker-compose.yml against the Compose specification (no engine needed)
	$(CHECK)

fmt: go ## Format the Go files
	$(LINT) fmt ./...

tools: go ## Build the tools once, so that lint and compose start at once
	$(LINT) version
	$(GO) build -C tools -o /dev/null ./composecheck

clean: ## Remove what was built (the fetched servers in .cache/ stay)
	rm -rf bin dist

go race curl python:
	@scripts/ensure.sh $@
