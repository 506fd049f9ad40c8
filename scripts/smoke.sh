#!/usr/bin/env bash
# Runs what the README shows, as it is written there: the serve command of its
# quick start, then every command of the parts marked "quick start" and "try it",
# and checks what comes back. Leaves nothing running.
# Needs Go and curl, and port 8080 free.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "smoke: $*" >&2; [ ! -f "${log:-}" ] || tail -n 20 "$log" >&2; exit 1; }
parts=$(sed -n '/<!-- quick start -->/,/<!-- end of quick start -->/p; /<!-- try it -->/,/<!-- end of try it -->/p' README.md)
serve=$(grep -m1 '^go run .* serve' <<<"$parts") || die "the README has no serve command"
mapfile -t calls < <(grep -E '^(curl |sleep |go run \./cmd/freshet feed |go run \./examples/)' <<<"$parts")
[ "$(printf '%s\n' "${calls[@]}" | grep -c '^curl ')" -ge 3 ] || die "the README shows fewer than 3 curl commands"

if curl -s -o /dev/null --max-time 2 http://127.0.0.1:8080/livez; then
  die "something listens on 127.0.0.1:8080 already; stop it first"
fi
work=$(mktemp -d)
log=$work/serve.log
echo "+ $serve"
# A process group of its own, because go run keeps a signal to itself.
FRESHET_DATA_DIR=$work/data setsid bash -c "exec $serve" >"$log" 2>&1 &
group=$!
stop() { kill -TERM -- "-$group" 2>/dev/null || true; wait "$group" 2>/dev/null || true; }
trap 'stop; rm -rf "$work"' EXIT

for _ in $(seq 600); do
  curl -sf -o /dev/null --max-time 2 http://127.0.0.1:8080/readyz && break
  kill -0 "$group" 2>/dev/null || die "the server ended before it was ready"
  sleep 0.2
done
curl -sf -o /dev/null http://127.0.0.1:8080/readyz || die "the server was not ready within two minutes"

# read_by holds what each agent has been given; nothing may come twice.
declare -A read_by
given() {
  local agent=$1 now
  now=$(grep -oE '\b(doc|news)_[0-9]+\b' <<<"$2" | sort) || die "no items: $2"
  [ -z "$(printf '%s\n%s\n' "${read_by[$agent]:-}" "$now" | grep . | sort | uniq -d)" ] || die "$agent got an item twice"
  read_by[$agent]=$(printf '%s\n%s\n' "${read_by[$agent]:-}" "$now")
}

for call in "${calls[@]}"; do
  echo "+ $call"
  out=$(bash -c "$call") || die "the command failed"
  [[ $call != sleep* ]] || continue
  head -c 300 <<<"$out" && echo
  if [[ $call == curl* ]]; then
    grep -q '"code":0,"msg":"success"' <<<"$out" || die "the answer is not a success: $out"
  fi
  agent=$(grep -oE '(X-Agent-ID: |-agent )[A-Za-z0-9_]+' <<<"$call" | head -n 1 | grep -oE '[A-Za-z0-9_]+$') || agent=
  case $call in
    *'"silent":true'*)
      # What is new is random, and may be in a language this agent does not read.
      for _ in $(seq 15); do
        ! grep -q '"new_count":[1-9]' <<<"$out" || break
        sleep 4
        out=$(bash -c "$call")
      done
      grep -q '"new_count":[1-9]' <<<"$out" || die "a new item must make the badge appear: $out" ;;
    *v1/feed* | go\ run*) given "$agent" "$out" ;;
    *v1/items*) grep -q '"accepted":[1-9]' <<<"$out" || die "no item was accepted: $out" ;;
  esac
done

kill -TERM -- "-$group"
for _ in $(seq 100); do grep -q 'msg=stopped' "$log" && break; sleep 0.1; done
last=$(grep 'msg=stopped' "$log") || die "the server did not say that it stopped"
echo "$last"
field() { grep -o "$1=[0-9]*" <<<"$last" | cut -d= -f2; }
[ "$(field delivered)" -eq $(($(field recorded) + $(field deferred))) ] || die "recorded + deferred is not delivered"
[ "$(field delivered)" -ge 1 ] || die "nothing was delivered"
echo "smoke: what the README shows works"
