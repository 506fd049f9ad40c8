#!/usr/bin/env bash
# Runs the quick start of the README as it is written there: its serve command,
# then every curl of it, and checks what comes back. Leaves nothing running.
# Needs Go and curl, and port 8080 free.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "smoke: $*" >&2; [ ! -f "${log:-}" ] || tail -n 20 "$log" >&2; exit 1; }
quick=$(sed -n '/<!-- quick start -->/,/<!-- end of quick start -->/p' README.md)
serve=$(grep -m1 '^go run .* serve' <<<"$quick") || die "the README has no serve command"
mapfile -t calls < <(grep -E '^(curl|sleep) ' <<<"$quick")
[ "$(grep -c '^curl ' <<<"$quick")" -ge 3 ] || die "the README shows fewer than 3 curl commands"

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

ids() { grep -o '{"id":"[^"]*"' <<<"$1" | sort; }
shown=
for call in "${calls[@]}"; do
  echo "+ $call"
  out=$(bash -c "$call") || die "the command failed"
  [[ $call != sleep* ]] || continue
  head -c 300 <<<"$out" && echo
  grep -q '"code":0,"msg":"success"' <<<"$out" || die "the answer is not a success: $out"
  case $call in
    *'"silent":true'*) grep -q '"new_count":[1-9]' <<<"$out" || die "a new item must make the badge appear: $out" ;;
    *v1/feed*)
      now=$(ids "$out")
      [ -n "$now" ] || die "no items: $out"
      [ -z "$(comm -12 <(echo "$shown") <(echo "$now"))" ] || die "an item came twice"
      shown=$(printf '%s\n%s\n' "$shown" "$now" | sort -u) ;;
  esac
done

kill -TERM -- "-$group"
for _ in $(seq 100); do grep -q 'msg=stopped' "$log" && break; sleep 0.1; done
last=$(grep 'msg=stopped' "$log") || die "the server did not say that it stopped"
echo "$last"
field() { grep -o "$1=[0-9]*" <<<"$last" | cut -d= -f2; }
[ "$(field delivered)" -eq $(($(field recorded) + $(field deferred))) ] || die "recorded + deferred is not delivered"
[ "$(field delivered)" -ge 1 ] || die "nothing was delivered"
echo "smoke: all of the README's quick start works"
