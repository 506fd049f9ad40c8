# "make" lists what there is. Nothing here is needed to build or test: go build
# and go test do. The targets are the commands that CI runs.

SHELL := /bin/bash
GOLANGCI_LINT ?= golangci-lint

# Where tests find real services; without them those tests skip and say so.
export FRESHET_TEST_REDIS ?=
export FRESHET_TEST_ELASTICSEARCH ?=
export FRESHET_TEST_POSTS ?=

.DEFAULT_GOAL := help
.PHONY: help build test race lint bench budgets fuzz smoke services services-down

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./freshet, a static binary
	CGO_ENABLED=0 go build -trimpath -o freshet ./cmd/freshet

test: ## run the tests that need no more than Go (and those of services that are named)
	go test ./...

race: ## run the tests with the race detector
	go test -race ./...

lint: ## vet, format and the rules of .golangci.yml
	go vet ./...
	$(GOLANGCI_LINT) run ./...

bench: ## run the Go benchmarks once each, with allocations
	go test -run '^$$' -bench . -benchmem ./...

budgets: ## measure what docs/performance.md promises, each beside its baseline, then simulate days of traffic
	scripts/bench.sh --items 100000,1000000 --json bench.json
	scripts/bench.sh --simulate --dedup.backend memory
	@test -z "$$FRESHET_TEST_REDIS" || scripts/bench.sh --simulate --dedup.backend redisbloom

fuzz: ## fuzz each decoder for 20 seconds
	scripts/fuzz.sh 20s

smoke: ## run the README's commands and docs/quickstart.md as they are written there
	scripts/smoke.sh

services: ## start Redis and Elasticsearch for the tests, and print how to use them
	docker compose up --detach --wait redis elasticsearch
	@echo 'export FRESHET_TEST_REDIS=redis://127.0.0.1:6379/0 FRESHET_TEST_ELASTICSEARCH=http://127.0.0.1:9200'

services-down: ## stop them; their data stays in volumes
	docker compose down
