#!/usr/bin/env bash
# Compares the statistics of experiments with those of scipy and numpy.
# Needs Go and Python 3.10 with venv. It installs scipy if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=${FRESHET_CACHE:-$HOME/.cache/freshet}/scipy
unset FRESHET_CACHE
if ! "$venv/bin/python" -c 'import scipy' >/dev/null 2>&1; then
  rm -rf "$venv"
  python3 -m venv "$venv" || { echo "statistics: Python's venv is missing: apt-get install python3-venv" >&2; exit 1; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check scipy
fi
FRESHET_TEST_SCIPY="$venv/bin/python" go test ./signals/experiment -run TestEqualsScipy -count=1 -v
