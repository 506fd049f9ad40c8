#!/usr/bin/env bash
# Runs freshet-bench with the services that FRESHET_TEST_REDIS (a redis:// URL),
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES name; without them their
# part is skipped. What is given goes on to the command: scripts/bench.sh --short
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

services=()
if [ -n "${FRESHET_TEST_REDIS:-}" ]; then
  address=${FRESHET_TEST_REDIS#redis://}
  database=0
  case $address in */*) database=${address##*/} ;; esac
  services+=(--redis.addrs "${address%%/*}" --redis.db "$database")
fi
if [ -n "${FRESHET_TEST_ELASTICSEARCH:-}" ]; then
  services+=(--elasticsearch.addresses "$FRESHET_TEST_ELASTICSEARCH")
fi
if [ -n "${FRESHET_TEST_POSTGRES:-}" ]; then
  services+=(--postgres.url "$FRESHET_TEST_POSTGRES")
fi

binary=$(mktemp -d)
trap 'rm -rf "$binary"' EXIT
go build -o "$binary/" ./cmd/freshet ./cmd/freshet-bench
"$binary/freshet-bench" --freshet "$binary/freshet" ${services[@]+"${services[@]}"} "$@"
