#!/usr/bin/env bash
# Has readers read all feeds, timelines and authors' pages in random turns until they were
# given 20,000 items and posts, in both modes, without faults and with them, and compares
# everything with a model of what they were shown: nothing is shown twice.
# usage: scripts/places.sh [SEED]
# FRESHET_TEST_REDIS, FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES name the
# services. It takes about half an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
FRESHET_TEST_REQUIRE_SERVICES=1 go test ./internal/app -run 'TestNothingTwiceInAnyPlace$' -v -timeout 5h \
  -places.given 20000 -places.seed "${1:-1}" | grep -v '^=== '
