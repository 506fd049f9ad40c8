#!/usr/bin/env bash
# Simulated readers read all feeds, timelines and authors' pages in random order until they
# have been given 20,000 items and posts, embedded and with services, with and without
# faults. Everything is compared with a model of what they were shown: nothing may be shown
# twice.
# usage: scripts/random_feeds.sh [SEED]
# FRESHET_TEST_REDIS, FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES are the addresses
# of the services. It takes about half an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
FRESHET_TEST_REQUIRE_SERVICES=1 go test ./server -run 'TestDedupAcrossFeedsModel$' -v -timeout 5h \
  -places.given 20000 -places.seed "${1:-1}" | grep -v '^=== '
