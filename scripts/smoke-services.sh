#!/usr/bin/env bash
# Runs Freshet as in production: configs/services.yaml, two servers without jobs and a
# worker, with running services. It follows, posts, reads a timeline and the feed, deletes
# the post, and stops everything. It leaves no process running; its rows stay in the
# database, under agent ids that nothing else uses.
# Needs Go, curl, and the addresses of the services in FRESHET_TEST_REDIS,
# FRESHET_TEST_ELASTICSEARCH and FRESHET_TEST_POSTGRES, as the tests do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "smoke-services: $*" >&2; tail -n 20 "$work"/*.log >&2 2>/dev/null || true; exit 1; }
work=$(mktemp -d)
pids=()
stop() {
  for p in "${pids[@]}"; do kill -TERM "$p" 2>/dev/null || true; done
  for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
  curl -s -o /dev/null -X DELETE "$FRESHET_TEST_ELASTICSEARCH/$run,$run-agents,$run-ranking?ignore_unavailable=true" || true
  rm -rf "$work"
}
: "${FRESHET_TEST_REDIS:?start the services first}" "${FRESHET_TEST_ELASTICSEARCH:?}" "${FRESHET_TEST_POSTGRES:?}"

run=smoke$RANDOM$$
export FRESHET_REDIS_URL=$FRESHET_TEST_REDIS FRESHET_REDIS_KEY_PREFIX=$run:
export FRESHET_ELASTICSEARCH_ADDRESSES=$FRESHET_TEST_ELASTICSEARCH FRESHET_ELASTICSEARCH_INDEX=$run
export FRESHET_POSTGRES_URL=$FRESHET_TEST_POSTGRES FRESHET_DEDUP_DAILY_CAPACITY=10000
trap stop EXIT

go build -o "$work/freshet" ./cmd/freshet
freshet() { echo "+ freshet $*" >&2; FRESHET_DATA_DIR=$work/data "$work/freshet" "$@"; }
begin() { # NAME PORT ARGUMENT...
  FRESHET_DATA_DIR=$work/$1 FRESHET_SERVER_ADDR=127.0.0.1:$2 "$work/freshet" "${@:3}" --config configs/services.yaml >"$work/$1.log" 2>&1 &
  pids+=($!)
}
ready() {
  for _ in $(seq 300); do ! curl -sf -o /dev/null --max-time 2 "http://127.0.0.1:$1/readyz" || return 0; sleep 0.2; done
  die "the server on port $1 is not ready: $(curl -s "http://127.0.0.1:$1/readyz")"
}
# until_says WANT COMMAND... repeats a command for up to half a minute until its output matches WANT.
until_says() {
  local want=$1 out
  for _ in $(seq 150); do
    out=$("${@:2}" 2>&1) && grep -qE -- "$want" <<<"$out" && { head -n 3 <<<"$out"; return 0; }
    sleep 0.2
  done
  die "no \"$want\" in the output of \"${*:2}\": $out"
}

# Exit code 1 means warnings: a Redis for tests does not save its data to disk.
freshet doctor --config configs/services.yaml --fix || [ $? -eq 1 ] || die "doctor failed"
FRESHET_JOBS_WORKERS=0 begin a 18181 serve
FRESHET_JOBS_WORKERS=0 begin b 18182 serve
begin worker 18183 worker
for port in 18181 18182 18183; do ready "$port"; done
a=http://127.0.0.1:18181 b=http://127.0.0.1:18182 reader=$run.r author=$run.a

freshet follow --server $a --agent "$reader" "$author"
post=$(freshet post --server $b --agent "$author" "Snow on the pass #$run")
until_says " $author +follow +$post +Snow on the pass" freshet timeline --server $a --agent "$reader"
until_says " $author +follow +$post +Snow on the pass" freshet timeline --server $b --agent "$reader"
feed() { curl -s -H "X-Agent-ID: $run.$RANDOM" -d '{"action":"refresh","limit":20}' $b/v1/feed; }
until_says "\"$post\"" feed
curl -sf -o /dev/null -X DELETE -H "X-Agent-ID: $author" "$a/v1/posts/$post" || die "the post is not deleted"
[ "$(curl -s -o /dev/null -w '%{http_code}' "$b/v1/posts/$post")" = 404 ] || die "a deleted post is shown"
! freshet timeline --server $b --agent "$reader" | grep -q "$post" || die "a deleted post is in a timeline"

for p in "${pids[@]}"; do kill -TERM "$p"; done
for p in "${pids[@]}"; do wait "$p" || die "a process exited with an error"; done
pids=()
grep -h 'msg=stopped' "$work"/a.log "$work"/b.log | wc -l | grep -qx 2 || die "a server did not log that it stopped"
! grep -hE 'level=ERROR' "$work"/*.log || die "errors are logged"
echo "smoke-services: passed with two servers and a worker"
