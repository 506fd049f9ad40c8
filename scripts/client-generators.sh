#!/usr/bin/env bash
# Generates the clients of docs/apps.md from the OpenAPI document of a server, compiles
# those for Python and Kotlin, and reads a feed with them. The Swift client is only generated.
# usage: scripts/client-generators.sh [python|kotlin|swift]...
# The default is all three. Needs Go and curl; Python 3.11 with venv; Java 17 and Maven.
# The generators are downloaded once, to FRESHET_CACHE or ~/.cache/freshet. Their output
# is in clients/*/build. FRESHET_TEST_BINARY is the path of an existing server binary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=0.29.1 openapi=7.24.0
die() { echo "client-generators: $*" >&2; exit 1; }
step() { echo "client-generators: $1 (${SECONDS}s)"; }
[ $# -gt 0 ] || set -- python kotlin swift
cache=${FRESHET_CACHE:-$HOME/.cache/freshet}
unset FRESHET_CACHE # the server would refuse this variable

work=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  rm -rf "$work"
}
trap stop EXIT

step "start a server with the demo data"
binary=${FRESHET_TEST_BINARY:-$work/freshet}
[ -n "${FRESHET_TEST_BINARY:-}" ] || go build -o "$binary" ./cmd/freshet
"$binary" serve --demo --server.addr 127.0.0.1:0 --data_dir "$work/data" >"$work/log" 2>&1 &
server=$!
url=
for _ in $(seq 1800); do
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; die "the server did not start"; }
  url=http://$(sed -n 's/.*msg=serving addr=\([^ ]*\).*/\1/p' "$work/log")
  if curl -sf -o /dev/null "$url/readyz"; then break; fi
  sleep 0.1
done
curl -sf -o "$work/openapi.json" "$url/openapi.json" || { cat "$work/log" >&2; die "the server is not ready"; }

# generate LANGUAGE: generates clients/LANGUAGE/build with openapi-generator.
generate() {
  local jar=$cache/openapi-generator-cli-$openapi.jar
  if [ ! -s "$jar" ]; then
    command -v mvn >/dev/null || die "Maven is missing: apt-get install maven"
    mvn -q -B -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
      -Dartifact="org.openapitools:openapi-generator-cli:$openapi" -DoutputDirectory="$work/jar" || die "openapi-generator-cli cannot be downloaded"
    mkdir -p "$cache"
    mv "$work"/jar/*.jar "$jar"
  fi
  rm -rf "clients/$1/build"
  java -jar "$jar" generate -c "clients/$1/openapi-generator.yaml" -i "$work/openapi.json" -o "clients/$1/build" >"$work/generate" 2>&1 ||
    { cat "$work/generate" >&2; die "openapi-generator failed for $1"; }
}

# reads PROGRAM...: runs a program, which must read two pages with different entries and send a click.
reads() {
  "$@" >"$work/out" || { cat "$work/out"; die "the program failed"; }
  cat "$work/out"
  [ "$(head -n 10 "$work/out" | sort -u | wc -l)" = 10 ] || die "the program did not print ten different entries"
  grep -qx "1 event accepted" "$work/out" || die "the click of the program was not accepted"
}

for language in "$@"; do
  step "$language"
  case $language in
    python)
      venv=$cache/openapi-python-client-$python
      if ! "$venv/bin/openapi-python-client" --version >/dev/null 2>&1; then
        rm -rf "$venv"
        python3 -m venv "$venv" || die "Python's venv is missing: apt-get install python3-venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "openapi-python-client==$python"
      fi
      rm -rf clients/python/build
      mkdir clients/python/build
      "$venv/bin/openapi-python-client" generate --fail-on-warning --meta none --config clients/python/openapi-python-client.yaml \
        --path "$work/openapi.json" --output-path clients/python/build/freshet_client
      "$venv/bin/python" -m compileall -q clients/python/build
      PYTHONPATH=clients/python/build reads "$venv/bin/python" clients/python/feed.py "$url" u_1
      # Uploads as a list and as lines: the options in openapi-python-client.yaml correct the generated code for both.
      PYTHONPATH=clients/python/build "$venv/bin/python" - "$url" <<'PY'
import io
import sys

from freshet_client import Client
from freshet_client.api.items import get_item, post_item_counts, post_items
from freshet_client.models import Item, ItemCounts
from freshet_client.types import File

admin = Client(base_url=sys.argv[1], headers={"X-Agent-ID": "admin"})
item = Item.from_dict({"id": "a", "title": "T", "update_time": 1, "price": 3})
assert post_items.sync(client=admin, body=[item]).data.accepted == 1
assert post_item_counts.sync(client=admin, body=[ItemCounts("a", likes=1)]).data.accepted == 1
lines = File(io.BytesIO(b'{"id":"a","comments":2}\n'))
assert post_item_counts.sync(client=admin, body=lines).data.accepted == 1
stored = get_item.sync("a", client=admin).data
assert (stored.likes, stored.comments, stored.additional_properties) == (1, 2, {"price": 3}), stored
PY
      ;;
    kotlin)
      generate kotlin
      # The compiler's daemon would keep running after this script.
      mvn -q -B -Dstyle.color=never -Dkotlin.compiler.daemon=false -f clients/kotlin/pom.xml compile
      reads mvn -q -B -Dstyle.color=never -f clients/kotlin/pom.xml exec:java -Dexec.args="$url u_2"
      ;;
    swift)
      generate swift
      grep -q "case typePost(Post)" clients/swift/build/Sources/Freshet/Models/Content.swift || die "a feed entry is not generated as one of two types"
      grep -q "extension NewPost: ParameterConvertible" clients/swift/build/Sources/Freshet/Infrastructure/NewPostParameter.swift ||
        die "a post cannot be encoded as a part of a form"
      ;;
    *) die "$language is not python, kotlin or swift" ;;
  esac
done
step "passed"
