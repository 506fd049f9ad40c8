#!/usr/bin/env bash
# Checks the TypeScript client: installs what its package-lock.json names, compares the
# generated types with what the server describes, compiles, and runs the tests against
# real servers and, where there is a Chromium, the examples in it, examples/web and the
# parts of docs/apps.md too.
# Needs Node 20.19 or newer, npm and Go. Leaves nothing running, and no file that is committed
# is changed. FRESHET_TEST_BINARY names a server that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../clients/typescript"

die() { echo "client-typescript: $*" >&2; exit 1; }
step() { echo "client-typescript: $1 (${SECONDS}s)"; }
command -v npm >/dev/null || die "npm is missing: install Node 20.19 or newer"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || a === 20 && b >= 19 ? 0 : 1)' ||
  die "Node is $(node --version): install 20.19 or newer"

step "install the tools"
npm ci --no-audit --no-fund --loglevel=error
step "the server, and whether the types are what it describes"
npm run --silent drift
step "compile, and test against real servers"
npm test --silent
step "the React example"
cd ../../examples/web
npm ci --no-audit --no-fund --loglevel=error
npm test --silent
step "passed"
