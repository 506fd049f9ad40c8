#!/usr/bin/env bash
# Replays posts over a whole network, in both modes, while people follow, unfollow,
# block, edit and delete, and compares every timeline with a model of what was done.
# usage: scripts/network.sh [SEED]
# FRESHET_TEST_FOLLOWS and FRESHET_TEST_POSTS name the files, FRESHET_TEST_REDIS,
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES the services. It takes long.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
FRESHET_TEST_REQUIRE_SERVICES=1 FRESHET_TEST_FULL=models go test ./internal/app -run 'TestRealNetwork$' -v -timeout 5h \
  -network.accounts 1000000 -network.posts 5000 -network.readers 0 -network.seed "${1:-1}" | grep -v '^=== '
