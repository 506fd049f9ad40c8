#!/usr/bin/env bash
# licenses.sh DIR: copies the licence texts of everything in the binary to DIR: Freshet's,
# Go's, and those of each module, in a folder named by the module's path. Fails if a module
# has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=${1:?"usage: scripts/licenses.sh DIR"}
mkdir -p "$dir/go"
cp LICENSE "$dir/"
cp "$(go env GOROOT)/LICENSE" "$dir/go/"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./cmd/freshet | sort -u |
  while read -r module source; do
    mapfile -t texts < <(cd "$source" && find . -type f ! -name '*.go' \
      \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'patents*' \) | sort)
    [ ${#texts[@]} -gt 0 ] || { echo "licenses.sh: $module has no licence text" >&2; exit 1; }
    for text in "${texts[@]}"; do install -D -m 644 "$source/$text" "$dir/$module/$text"; done
  done
