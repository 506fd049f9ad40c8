#!/usr/bin/env bash
# Keeps the cores busy with four processes for SECONDS. Tests must pass while it runs:
# scripts/load_cpu.sh 600 & go test ./...
set -euo pipefail
seconds=${1:?usage: scripts/load_cpu.sh SECONDS}
for _ in 1 2 3 4; do
  timeout "$seconds" bash -c 'while :; do :; done' &
done
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
wait || true
