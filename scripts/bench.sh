#!/usr/bin/env bash
# Builds freshet-bench, which measures Freshet, and runs it: what is given goes on to
# it, and files are found from where you are. --help says what it can do.
# usage: scripts/bench.sh --short, scripts/bench.sh load --rate 200, …
# It measures the services that FRESHET_TEST_REDIS (a redis:// URL),
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES name, or the flags
# --redis.url, --elasticsearch.addresses and --postgres.url; without them their part
# is skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ -n "${FRESHET_TEST_REDIS:-}" ]; then
  export FRESHET_REDIS_URL=$FRESHET_TEST_REDIS
fi
if [ -n "${FRESHET_TEST_ELASTICSEARCH:-}" ]; then
  export FRESHET_ELASTICSEARCH_ADDRESSES=$FRESHET_TEST_ELASTICSEARCH
fi
if [ -n "${FRESHET_TEST_POSTGRES:-}" ]; then
  export FRESHET_POSTGRES_URL=$FRESHET_TEST_POSTGRES
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -C "$root" -o "$work/" ./cmd/freshet
go build -C "$root/bench" -o "$work/" ./cmd/freshet-bench
mkdir "$work/tmp"
if [ "${1:-}" != load ]; then # which asks a server that runs already
  set -- --freshet "$work/freshet" "$@"
fi
TMPDIR=$work/tmp "$work/freshet-bench" "$@"
rmdir "$work/tmp" # a run leaves nothing behind
