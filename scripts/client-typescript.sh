#!/usr/bin/env bash
# Checks the TypeScript client: installs the packages of its package-lock.json, compares
# the generated types with the server's OpenAPI document, compiles, and runs the tests
# against real servers. If Chromium is available, it also runs the examples in it,
# including examples/web and the examples of docs/apps.md.
# Needs Node 20.19 or newer, npm and Go. Leaves no process running and changes no committed
# file. FRESHET_TEST_BINARY is the path of an existing server binary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../clients/typescript"

die() { echo "client-typescript: $*" >&2; exit 1; }
step() { echo "client-typescript: $1 (${SECONDS}s)"; }
command -v npm >/dev/null || die "npm is missing: install Node 20.19 or newer"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || a === 20 && b >= 19 ? 0 : 1)' ||
  die "Node is $(node --version): install 20.19 or newer"

step "install the tools"
npm ci --no-audit --no-fund --loglevel=error
step "compare the types with the OpenAPI document"
npm run --silent drift
step "compile, and test against real servers"
npm test --silent
step "test the React example"
cd ../../examples/web
npm ci --no-audit --no-fund --loglevel=error
npm test --silent
step "passed"
