#!/usr/bin/env bash
# Builds freshet-bench, which measures Freshet, and runs it with the given arguments in
# the current directory; --help lists them.
# usage: scripts/bench.sh --short, scripts/bench.sh load --rate 200,
# scripts/bench.sh prove, …
# It measures the services whose addresses are in FRESHET_TEST_REDIS (a redis:// URL),
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES, or in the flags --redis.url,
# --elasticsearch.addresses and --postgres.url. Measurements of missing services are
# skipped.
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
case ${1:-} in
  load | prove | cost) ;; # load calls a server that is already running, prove runs its own, and cost only computes
  *) set -- --freshet "$work/freshet" "$@" ;;
esac
TMPDIR=$work/tmp "$work/freshet-bench" "$@"
rmdir "$work/tmp" # fails if the run left temporary files
