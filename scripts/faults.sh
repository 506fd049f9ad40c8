#!/usr/bin/env bash
# Ends servers, workers and services while clients write and read timelines, and
# prints for each fault what readers saw and how long it took until all was right.
# usage: scripts/faults.sh [AGE-OF-THE-SNAPSHOT]     default 150s; it takes some ten minutes
# FRESHET_TEST_REDIS, FRESHET_TEST_REDIS_CLUSTER, FRESHET_TEST_ELASTICSEARCH and
# FRESHET_TEST_POSTGRES name the services. What is ended is the test's own; the index
# is in that Elasticsearch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
echo '| fault | pages | failed | degraded | that lacked a post | until the last of these | writes ended, all timelines compared |'
echo '|---|---|---|---|---|---|---|'
FRESHET_TEST_REQUIRE_SERVICES=1 FRESHET_TEST_FULL=kills go test ./cmd/freshet -run 'TestFaults$' -v -timeout 1h \
  -faults.all -faults.age "${1:-150s}" -faults.followers 2000 | grep -e '| ' -e FAIL -e Error -e Messages -e '^ok' | sed 's/^ *faults_test.go:[0-9]*: //'
