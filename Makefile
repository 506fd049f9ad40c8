# "make" lists the targets. They are not required to build or test: go build and go test
# are enough.

SHELL := /bin/bash
GOLANGCI_LINT ?= golangci-lint

# Addresses of services and paths of data for tests. Tests without theirs are skipped, with a message.
export FRESHET_TEST_REDIS ?=
export FRESHET_TEST_ELASTICSEARCH ?=
export FRESHET_TEST_POSTGRES ?=
export FRESHET_TEST_POSTS ?=
export FRESHET_TEST_READERS ?=

.DEFAULT_GOAL := help
.PHONY: help build test race checks tidy lint bench budgets fuzz schemathesis smoke smoke-services services services-down

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./freshet, a static binary
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o freshet ./cmd/freshet

test: ## run the tests that need only Go, and those of the services in FRESHET_TEST_…
	go test ./...
	cd bench && go test ./...

# SQLite is translated from C. With the race detector in it, the tests take many times longer.
NORACE := $(foreach package,modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory,'-gcflags=$(package)=-race=false')
race: ## run the tests of all modules with the race detector
	go test -race $(NORACE) -timeout 20m ./...
	cd bench && go test -race $(NORACE) -timeout 20m ./...
	cd internal/checks && go test -race $(NORACE) -timeout 20m ./...

checks: ## run the tests that need large tools: browser, gateway, compose file, monitoring, image
	cd internal/checks && go test -timeout 20m ./...

tidy: ## update go.mod and go.sum of all modules after a change of imports
	go mod tidy
	cd bench && go mod tidy
	cd internal/checks && go mod tidy

lint: ## check vet, formatting and the rules of .golangci.yml
	go vet ./...
	$(GOLANGCI_LINT) run ./...
	cd bench && go vet ./... && $(GOLANGCI_LINT) run ./...
	cd internal/checks && go vet ./... && $(GOLANGCI_LINT) run ./...

bench: ## run the Go benchmarks once each, with allocations
	go test -run '^$$' -bench . -benchmem ./...
	cd bench && go test -run '^$$' -bench . -benchmem ./...

budgets: ## measure the budgets of docs/capacity.md, each with its baseline, then simulate days of traffic
	scripts/bench.sh --items 100000,1000000 --json bench.json
	scripts/bench.sh --simulate --redis.url= --postgres.url=
	@test -z "$$FRESHET_TEST_REDIS" || scripts/bench.sh --simulate

fuzz: ## fuzz each decoder for 20 seconds
	scripts/fuzz.sh 20s

schemathesis: ## compare a server with its OpenAPI document
	scripts/schemathesis.sh

smoke: ## run the commands of the README and docs/quickstart.md exactly as written there
	scripts/smoke.sh

smoke-services: ## run two servers and a worker with the services in FRESHET_TEST_…
	scripts/smoke-services.sh

services: ## start Redis, Elasticsearch and PostgreSQL for the tests, and print how to use them
	docker compose up --detach --wait redis elasticsearch postgres
	@echo 'export FRESHET_TEST_REDIS=redis://127.0.0.1:6379/0 FRESHET_TEST_ELASTICSEARCH=http://127.0.0.1:9200'
	@echo "export FRESHET_TEST_POSTGRES='postgres://freshet:freshet@127.0.0.1:5432/freshet?sslmode=disable'"

services-down: ## stop the services; their data stays in volumes
	docker compose down
