#!/usr/bin/env bash
# Kills and disconnects servers, workers and services while clients write and read timelines, and prints
# for each fault the pages that readers got and the time until all timelines were correct.
# usage: scripts/fault_injection.sh [AGE-OF-THE-SNAPSHOT]     default 150s; it takes about ten minutes
# FRESHET_TEST_REDIS, FRESHET_TEST_REDIS_CLUSTER, FRESHET_TEST_ELASTICSEARCH and
# FRESHET_TEST_POSTGRES are the addresses of the services. The test kills only processes
# that it has started; its index is in the given Elasticsearch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
echo '| fault | pages | failed | degraded | that lacked a post | until the last of these | writes ended, all timelines compared |'
echo '|---|---|---|---|---|---|---|'
FRESHET_TEST_REQUIRE_SERVICES=1 FRESHET_TEST_FULL=kills go test ./cmd/freshet -run 'TestFaults$' -v -timeout 1h \
  -faults.all -faults.age "${1:-150s}" -faults.followers 2000 | grep -e '| ' -e FAIL -e Error -e Messages -e '^ok' | sed 's/^ *faults_test.go:[0-9]*: //'
