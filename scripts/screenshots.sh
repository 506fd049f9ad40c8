#!/usr/bin/env bash
# Makes the pictures of the console in docs/screenshots: those that the tests of its pages take of a wide
# window. Needs Go and Chromium; starts no service and leaves no process running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shots=$(mktemp -d)
trap 'rm -rf "$shots"' EXIT
(cd internal/checks && FRESHET_TEST_SCREENSHOTS=$shots FRESHET_TEST_FULL=pages \
  go test -count=1 ./pages -run '^(TestConsoleOverviewWeek|TestConsoleRankingTogether|TestConsoleReader)$')
mv "$shots/overview-week-wide.png" "$shots/overview-wide.png"
for view in overview ranking reader; do
  install -m 644 "$shots/$view-wide.png" "docs/screenshots/$view-wide.png"
done
echo "screenshots: docs/screenshots is up to date"
