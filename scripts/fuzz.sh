#!/usr/bin/env bash
# Fuzzes every decoder of external input, one after the other.
# usage: scripts/fuzz.sh [HOW-LONG] [light]   time (10s) or inputs (5000x) of each; default 10s
#        scripts/fuzz.sh list                 only checks the list
# light skips the targets that take a minute or more to compile for fuzzing.
# The list below must contain exactly the fuzz targets of the source tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
long=${1:-10s} weight=${2:-all}

targets='
./catalog          FuzzIngest        items as NDJSON or an array
./feed             FuzzParseItem     one item
./feed             FuzzHead          group and time of a stored item
./feed             FuzzParseProfile  a profile
./handler          FuzzFeedBody      the body of a feed call
./feed/strictjson FuzzUnmarshal   the strict decoder of JSON objects
./handler          FuzzToken         a JWT
./configs          FuzzParse         a configuration file
./dedup/journal    FuzzDecodeFrame   a frame of the journal, and of the spool
./dedup/journal    FuzzScan          a whole journal file
./dedup/memory     FuzzDecodeFilter  a stored filter
./social           FuzzHashtags      the hashtags of a caption
./social/media     FuzzMake          an uploaded image
./social/graph     FuzzDecode        an event of another system
./feed/terms       FuzzFold          the folded form of a tag
./feed/terms       FuzzLangs         a language
./feed/words       FuzzEach          words of a title or a summary
./cache/redislist  FuzzParseRecord   a retry record
./recall/memory    FuzzParseCursor   a cursor
./recall/trending  FuzzDecode        a stored set of what is trending
./recall/elastic   FuzzCursor        a cursor
./recall/elastic   FuzzDecode        an answer of Elasticsearch
'

listed=$(awk 'NF {print $1, $2}' <<<"$targets" | sort)
found=$(grep -rn --include='*_test.go' '^func Fuzz' . | sed -E 's|^(.*)/[^/]*_test\.go:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort)
if ! diff <(echo "$listed") <(echo "$found"); then
  echo "fuzz: the list in this script (<) and the fuzz targets of the source tree (>) differ; correct the list in scripts/fuzz.sh" >&2
  exit 1
fi
if [ "$long" = list ]; then exit; fi
while read -r package target what; do
  [ -n "$package" ] || continue
  case $weight$package in
    light./handler | light./social/media | light./catalog) continue ;; # a whole server, cloud stores, SQLite
  esac
  echo "== $package $target: $what"
  if ! out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$long" -fuzzminimizetime 1x "$package" 2>&1); then
    echo "$out" # includes the failing input, which is also written to the package's testdata
    exit 1
  fi
  tail -n 3 <<<"$out"
done <<<"$targets"
