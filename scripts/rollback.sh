#!/usr/bin/env bash
# rollback.sh OLD NEW: upgrades from the binary OLD to the binary NEW, rolls back, and
# upgrades again, with one data directory and, if FRESHET_TEST_POSTGRES and the other
# variables are set, with services. Each server must show what the previous ones have
# stored, and nothing that a reader was already shown. Leaves no process running.
set -euo pipefail
old=$(realpath "${1:?"usage: scripts/rollback.sh OLD NEW"}") new=$(realpath "${2:?"usage: scripts/rollback.sh OLD NEW"}")
unset FRESHET_CACHE # the server would refuse this variable
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "rollback: $*" >&2; tail -n 20 "$work"/*.log >&2 2>/dev/null || true; exit 1; }
work=$(mktemp -d)
pid=
stop() { [ -z "$pid" ] || { kill -TERM "$pid" 2>/dev/null && wait "$pid"; } || die "a server exited with an error"; pid=; }
run=rollback$RANDOM$$
schema() { PGOPTIONS=--client-min-messages=warning psql -qX "$FRESHET_TEST_POSTGRES" -c "$1"; }
tidy() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  [ -z "${FRESHET_TEST_POSTGRES:-}" ] || schema "DROP SCHEMA IF EXISTS ${run} CASCADE" || true
  [ -z "${FRESHET_TEST_ELASTICSEARCH:-}" ] ||
    curl -s -o /dev/null -X DELETE "$FRESHET_TEST_ELASTICSEARCH/$run,$run-agents,$run-ranking?ignore_unavailable=true" || true
  rm -rf "$work"
}
trap tidy EXIT

port=${ROLLBACK_PORT:-18191}
url=http://127.0.0.1:$port
export FRESHET_AUTH_ADMIN_TOKEN=rollback-$RANDOM$RANDOM$RANDOM
serve() { # binary, name of its log, arguments
  stop
  FRESHET_DATA_DIR=$work/data FRESHET_SERVER_ADDR=127.0.0.1:$port "$1" serve "${@:3}" >"$work/$2.log" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    ! curl -sf -o /dev/null --max-time 2 "$url/readyz" || return 0
    kill -0 "$pid" 2>/dev/null || die "$2 ended before it was ready"
    sleep 0.2
  done
  die "$2 is not ready: $(curl -s "$url/readyz")"
}
call() { # method, path, agent, body
  curl -sS --fail-with-body -X "$1" -H "X-Agent-ID: $3" ${4:+-d "$4"} "$url$2" || die "$1 $2 by $3 failed"
}
# eventually runs a command until it prints each of the lines of a text.
eventually() { # text, command
  local out missing
  for _ in $(seq 150); do
    out=$("${@:2}")
    missing=$(grep -vxFf <(grep -oE '[a-z0-9_:]{6,}' <<<"$out") <<<"$1" || true)
    [ -n "$missing" ] || return 0
    sleep 0.2
  done
  die "${*:2} lacks $missing: $out"
}

# use stores items and a post with the running server, and checks all posts stored so far.
shown='' posts=''
use() { # name
  local n page ids
  for n in $(seq 20); do
    printf '{"id":"%s_%s_%02d","title":"%s %s","tags":["%s"],"update_time":%d}\n' "$run" "$1" "$n" "$n" "$(head -c 9 /dev/urandom | base64 | tr -dc a-z)" "$run" "$(date +%s)"
  done | curl -sS --fail-with-body -o /dev/null -H "Authorization: Bearer $FRESHET_AUTH_ADMIN_TOKEN" --data-binary @- $url/v1/items ||
    die "$1 accepts no items"
  call PUT "/v1/agents/$run-r/following/$run-a" "$run-r" >/dev/null
  posts+=$(call POST /v1/posts "$run-a" "{\"caption\":\"by $1 #$run\"}" | grep -oE '"id":"post:[^"]+"' | cut -d'"' -f4)$'\n'
  call PUT "/v1/posts/$(tail -n 1 <<<"${posts%$'\n'}")/like" "$run-r" >/dev/null
  eventually "${posts%$'\n'}" call GET "/v1/timeline?limit=50" "$run-r"
  for n in 1 2; do
    for _ in $(seq 150); do # an index makes items searchable within a second or so
      page=$(call POST /v1/feed "$run-r" "{\"action\":\"refresh\",\"limit\":5}")
      ids=$(grep -oE "\"id\":\"(${run}_[a-z0-9_]+|post:[^\"]+)\"" <<<"$page" | sort || true)
      [ -z "$ids" ] || break
      sleep 0.2
    done
    [ -n "$ids" ] || die "$1 has no items: $page"
    shown=$(printf '%s\n%s' "$shown" "$ids" | grep . | sort)
    [ -z "$(uniq -d <<<"$shown")" ] || die "$1 shows an item again: $(uniq -d <<<"$shown")"
  done
}
forth_and_back() { # arguments
  shown='' posts=''
  serve "$old" old "$@"; use old
  serve "$new" new "$@"; use new
  serve "$old" old-again "$@"; use oldagain
  serve "$new" new-again "$@"; use newagain
  stop
  ! grep -hE 'level=ERROR' "$work"/*.log || die "errors are logged"
  [ "$(grep -c . <<<"$posts")" -eq 4 ] || die "a post is missing"
  rm -rf "$work/data" "$work"/*.log
}

"$old" version
"$new" version
forth_and_back
echo "rollback: embedded: passed"
if [ -n "${FRESHET_TEST_POSTGRES:-}" ]; then
  run=${run}s
  schema "CREATE SCHEMA $run"
  case $FRESHET_TEST_POSTGRES in *\?*) and='&' ;; *) and='?' ;; esac
  export FRESHET_REDIS_URL=$FRESHET_TEST_REDIS FRESHET_REDIS_KEY_PREFIX=$run:
  export FRESHET_ELASTICSEARCH_ADDRESSES=$FRESHET_TEST_ELASTICSEARCH FRESHET_ELASTICSEARCH_INDEX=$run
  export FRESHET_POSTGRES_URL=${FRESHET_TEST_POSTGRES}${and}search_path=$run FRESHET_DEDUP_DAILY_CAPACITY=10000
  forth_and_back --config configs/services.yaml
  echo "rollback: with services: passed"
fi
