#!/usr/bin/env bash
# Replays posts in a real social network, embedded and with services, while agents follow,
# unfollow, block, edit and delete, and compares every timeline with that of a model.
# usage: scripts/network.sh [SEED]
# FRESHET_TEST_FOLLOWS and FRESHET_TEST_POSTS are the data files; FRESHET_TEST_REDIS,
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES are the addresses of the services.
# It can take hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
FRESHET_TEST_REQUIRE_SERVICES=1 FRESHET_TEST_FULL=models go test ./server -run 'TestTimelineModelOnRealNetwork$' -v -timeout 5h \
  -network.accounts 1000000 -network.posts 5000 -network.readers 0 -network.seed "${1:-1}" | grep -v '^=== '
