#!/usr/bin/env bash
# Compares a running server with its OpenAPI document: schemathesis sends requests that the
# document allows and requests that it does not allow, and checks each answer. It fails on
# any difference, which it prints with a curl command to reproduce it, and on an error in
# the server's log. Accepted differences are in scripts/schemathesis, with their reasons.
# usage: scripts/schemathesis.sh [--services] [EXAMPLES [SEED]]
# EXAMPLES is the number of random requests for each route, in addition to the systematic
# ones; default 3. With --services the server uses FRESHET_TEST_REDIS,
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES instead of running embedded.
# Needs Go, curl and Python 3.10 with venv, and with --services psql. It installs
# schemathesis if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=4.32.5
die() { echo "schemathesis: $*" >&2; exit 1; }
services=
if [ "${1:-}" = --services ]; then services=yes; shift; fi
examples=${1:-3} seed=${2:-1}

venv=${FRESHET_CACHE:-$HOME/.cache/freshet}/schemathesis-$version
unset FRESHET_CACHE # the server would refuse this variable
if ! "$venv/bin/st" --version >/dev/null 2>&1; then
  rm -rf "$venv"
  python3 -m venv "$venv" || die "Python's venv is missing: apt-get install python3-venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

work=$(mktemp -d)
server=
run=schemathesis$$
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  if [ -n "$services" ]; then
    curl -s -o /dev/null -X DELETE "$FRESHET_TEST_ELASTICSEARCH/$run,$run-agents,$run-ranking?ignore_unavailable=true" || true
    schema "DROP SCHEMA IF EXISTS $run CASCADE" || true
  fi
  rm -rf "$work"
}
schema() { PGOPTIONS=--client-min-messages=warning psql -qX "$FRESHET_TEST_POSTGRES" -c "$1"; }
trap stop EXIT

# Tokens for this run: one of an admin, and one of a reader of the demo.
random() { "$venv/bin/python" -c 'import secrets; print(secrets.token_hex(32))'; }
export FRESHET_AUTH_MODE=jwt FRESHET_AUTH_ADMIN_TOKEN FRESHET_AUTH_JWT_SECRET SCHEMATHESIS_AGENT
FRESHET_AUTH_ADMIN_TOKEN=$(random) FRESHET_AUTH_JWT_SECRET=$(random)
SCHEMATHESIS_AGENT=$("$venv/bin/python" - <<'PY'
import base64, hashlib, hmac, json, os, time
def part(data): return base64.urlsafe_b64encode(data).rstrip(b"=")
claims = {"sub": "u_1", "exp": int(time.time()) + 86400}
token = b".".join(part(json.dumps(p).encode()) for p in [{"alg": "HS256", "typ": "JWT"}, claims])
print((token + b"." + part(hmac.digest(os.environ["FRESHET_AUTH_JWT_SECRET"].encode(), token, "sha256"))).decode())
PY
)

export FRESHET_POPULARITY_HALF_LIVES=1h,2h,6h,1d,2d,7d # so that all weights of a ranking are accepted
arguments=(--demo --server.addr 127.0.0.1:0 --data_dir "$work/data")
if [ -n "$services" ]; then
  : "${FRESHET_TEST_REDIS:?start the services first}" "${FRESHET_TEST_ELASTICSEARCH:?}" "${FRESHET_TEST_POSTGRES:?}"
  export FRESHET_REDIS_URL=$FRESHET_TEST_REDIS FRESHET_REDIS_KEY_PREFIX=$run: FRESHET_DEDUP_DAILY_CAPACITY=10000
  export FRESHET_ELASTICSEARCH_ADDRESSES=$FRESHET_TEST_ELASTICSEARCH FRESHET_ELASTICSEARCH_INDEX=$run
  schema "CREATE SCHEMA $run"
  case $FRESHET_TEST_POSTGRES in *\?*) and="&" ;; *) and="?" ;; esac
  export FRESHET_POSTGRES_URL=$FRESHET_TEST_POSTGRES${and}search_path=$run FRESHET_MEDIA_URL=file://$work/images
  arguments+=(--config configs/services.yaml)
fi

go build -o "$work/freshet" ./cmd/freshet
"$work/freshet" serve "${arguments[@]}" >"$work/log" 2>&1 &
server=$!
address=
for _ in $(seq 600); do
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; die "the server did not start"; }
  address=$(sed -n 's/.*msg=serving addr=\([^ ]*\).*/\1/p' "$work/log")
  if [ -n "$address" ] && curl -sf -o /dev/null "http://$address/readyz"; then break; fi
  sleep 0.1
done

SCHEMATHESIS_IMAGE=$(curl -sf -H "Authorization: Bearer $SCHEMATHESIS_AGENT" "http://$address/v1/timeline?limit=100" |
  grep -oE '/media/[0-9a-f]{32}' | head -n 1 | cut -d / -f 3 || true)
export SCHEMATHESIS_IMAGE
[ -n "$SCHEMATHESIS_IMAGE" ] || die "the demo shows no image"

code=0
(cd "$work" && PYTHONPATH=$OLDPWD/scripts/schemathesis PYTHONDONTWRITEBYTECODE=1 \
  "$venv/bin/st" --config-file "$OLDPWD/scripts/schemathesis/schemathesis.toml" run "http://$address/openapi.json" \
  --max-examples "$examples" --seed "$seed" --no-color) || code=$?
kill -0 "$server" 2>/dev/null || code=1
if grep -nE 'level=ERROR|^panic|goroutine [0-9]+ \[' "$work/log"; then
  cp "$work/log" "${TMPDIR:-/tmp}/schemathesis-server.log"
  die "the server has logged errors: ${TMPDIR:-/tmp}/schemathesis-server.log"
fi
[ "$code" = 0 ] || die "the server differs from its OpenAPI document, see above (exit code $code)"
