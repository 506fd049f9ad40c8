#!/usr/bin/env bash
# Runs the commands of the README and of docs/quickstart.md exactly as written there, and
# checks their output: the README's serve command, pages, and every command in its parts
# "quick start" and "try it"; then all of docs/quickstart.md, whose output must equal the
# output shown there. Leaves no process running.
# Needs Go, curl and openssl, and port 8080 free.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "smoke: $*" >&2; [ ! -f "${log:-}" ] || tail -n 20 "$log" >&2; exit 1; }
parts=$(sed -n '/<!-- quick start -->/,/<!-- end of quick start -->/p; /<!-- try it -->/,/<!-- end of try it -->/p' README.md)
serve=$(grep -m1 '^go run .* serve' <<<"$parts") || die "the README has no serve command"
mapfile -t calls < <(grep -E '^(curl |sleep |freshet |go install |go run \./examples/)' <<<"$parts")
mapfile -t pages < <(grep -oE '<http://[^>]+>' <<<"$parts" | tr -d '<>')
[ "$(printf '%s\n' "${calls[@]}" | grep -c '^curl ')" -ge 3 ] || die "the README shows fewer than 3 curl commands"
for page in / /console /docs /openapi.json; do
  printf '%s\n' "${pages[@]}" | grep -qx "http://127.0.0.1:8080$page" || die "the README does not name $page"
done
for command in explain 'ranking set' 'ranking report' 'ranking history' 'ranking revert'; do
  printf '%s\n' "${calls[@]}" | grep -q "^freshet $command" || die "the README does not show freshet $command"
done

if curl -s -o /dev/null --max-time 2 http://127.0.0.1:8080/livez; then
  die "another process listens on 127.0.0.1:8080; stop it first"
fi
work=$(mktemp -d)
export GOBIN=$work/bin PATH=$work/bin:$PATH
unset FRESHET_ADMIN_TOKEN FRESHET_AUTH_ADMIN_TOKEN
log=$work/serve.log
echo "+ $serve"
# Use a separate process group, because go run does not pass signals on.
FRESHET_DATA_DIR=$work/data setsid bash -c "exec $serve" >"$log" 2>&1 &
group=$!
stop() { kill -TERM -- "-$group" 2>/dev/null || true; wait "$group" 2>/dev/null || true; }
trap 'stop; rm -rf "$work"' EXIT

for _ in $(seq 600); do
  curl -sf -o /dev/null --max-time 2 http://127.0.0.1:8080/readyz && break
  kill -0 "$group" 2>/dev/null || die "the server exited before it was ready"
  sleep 0.2
done
curl -sf -o /dev/null http://127.0.0.1:8080/readyz || die "the server was not ready within two minutes"

for page in "${pages[@]}"; do
  echo "+ GET $page"
  out=$(curl -sf "$page") || die "$page does not answer 200"
  case $page in
    *.json) grep -q '"openapi":"3\.1' <<<"$out" || die "$page is not an OpenAPI 3.1 document: ${out:0:200}" ;;
    *) grep -qi '<!doctype html>' <<<"$out" && grep -q '<title>' <<<"$out" || die "$page is not an HTML page: ${out:0:200}" ;;
  esac
done

# read_by holds the items that each agent has been given; none may be given twice.
declare -A read_by
given() {
  local agent=$1 now
  now=$(grep -oE '\b(doc|news)_[0-9]+\b|\bpost:[0-9a-z_]+' <<<"$2" | sort) || die "no items: $2"
  [ -z "$(printf '%s\n%s\n' "${read_by[$agent]:-}" "$now" | grep . | sort | uniq -d)" ] || die "$agent got an item twice"
  read_by[$agent]=$(printf '%s\n%s\n' "${read_by[$agent]:-}" "$now")
}
says() { grep -qE -- "$1" <<<"$out" || die "no \"$1\" in its output: $out"; }

for call in "${calls[@]}"; do
  echo "+ $call"
  out=$(bash -c "$call") || die "the command failed"
  case $call in sleep* | 'go install'*) continue ;; esac
  head -c 300 <<<"$out" && echo
  if [[ $call == curl* ]]; then
    grep -q '"code":0,"msg":"success"' <<<"$out" || die "the answer is not a success: $out"
  fi
  agent=$(grep -oE '(X-Agent-ID: |-agent )[A-Za-z0-9_]+' <<<"$call" | head -n 1 | grep -oE '[A-Za-z0-9_]+$') || agent=
  case $call in
    *'"silent":true'*)
      # New items are random, and may be in a language that this agent does not read.
      for _ in $(seq 15); do
        ! grep -q '"new_count":[1-9]' <<<"$out" || break
        sleep 4
        out=$(bash -c "$call")
      done
      says '"new_count":[1-9]' ;;
    *v1/timeline*) says '"id":"post:demo_[0-9]+".*"reason":"follow".*"next_cursor":"post:demo_[0-9]+:[0-9]+"' ;;
    *v1/feed* | go\ run* | freshet\ feed*) given "$agent" "$out" ;;
    freshet\ follow*) says '^ana follows freya.costa$' ;;
    freshet\ post*) says '^post:[0-9a-f]+$' ;;
    freshet\ timeline*)
      says ' ana +self +post:[0-9a-f]+ +Snow on the pass #ski$'
      says '^posts=3, has_more=true$' ;;
    *v1/events*) says '"accepted":2,"not_shown":0' ;;
    freshet\ explain*--item*)
      says '^(pending|paged): It ranks [0-9]+ of 5[0-9]{2}' # of 500 recalled items, and new ones to explore
      says '^score [0-9.]+ = relevance [0-9.]+ × decay [0-9.]+ × popularity [0-9.]+$' ;;
    freshet\ ranking\ set*--as*) says '^Changed: new slow for 10%: scale=72h; every server follows' ;;
    freshet\ ranking\ set*) says '^Changed: scale=36h,offset=1h,decay=0.5; every server follows' ;;
    freshet\ ranking\ report*)
      says '^control +100\.00 % +[1-9][0-9]* +[1-9][0-9]* .* [1-9][0-9]*$' ;; # simulated readers also click and hide
    freshet\ ranking\ history*)
      says '^2 .* new slow for 10%: scale=72h +do readers want older items\?$'
      says '^1 .* scale=36h,offset=1h,decay=0.5 +calmer weekends$'
      says '^0 .* configuration ' ;;
    freshet\ ranking\ revert*)
      says '^version 3, .*: back to normal$'
      says '^control +100% +default$'
      says '^Reverted to the ranking of version 0: curves=two; slow ended' ;;
    *v1/agents/*) says '"interests":\{' ;;
    *) die "scripts/smoke.sh does not check this command" ;;
  esac
done

kill -TERM -- "-$group"
for _ in $(seq 100); do grep -q 'msg=stopped' "$log" && break; sleep 0.1; done
last=$(grep 'msg=stopped' "$log") || die "the server did not log that it stopped"
echo "$last"
field() { grep -o "$1=[0-9]*" <<<"$last" | cut -d= -f2; }
[ "$(field delivered)" -eq $(($(field recorded) + $(field deferred))) ] || die "recorded + deferred does not equal delivered"
[ "$(field delivered)" -ge 1 ] || die "nothing was delivered"
wait "$group" 2>/dev/null || true

# docs/quickstart.md: run its sh blocks in order, in one shell and an empty directory. Only
# blocks followed by a block of output print.
echo "+ docs/quickstart.md"
mkdir "$work/quick"
log=$work/quick/freshet.log
awk -v script="$work/script" -v expected="$work/expected" '
  function flush() {
    if (code == "") return
    printf "{\n%s} %s\necho; echo @@@\n", code, shown ? "2>&1" : ">/dev/null" >script
    printf "%s@@@\n", output >expected
    code = output = ""; shown = 0
  }
  !inside && /^```/ {
    inside = "prose"
    if ($0 == "```sh") { flush(); inside = "sh" }
    else if (follows) { inside = "output"; shown = 1 }
    follows = 0; next
  }
  inside && /^```$/ { follows = inside == "sh"; inside = ""; next }
  inside == "sh" { code = code $0 "\n" }
  inside == "output" { output = output $0 "\n" }
  !inside && NF { follows = 0 }
  END { flush() }
' docs/quickstart.md
# Numbers (times, ages, counts) differ from run to run, and on a busy machine the upload
# waits until the server listens. Everything else must be equal.
plain() { grep -vE '^$|^waiting [0-9a-z.]+: cannot reach the server' "$1" | sed -E 's/[0-9]+/N/g'; }
(cd "$work/quick" && exec setsid bash -euo pipefail "$work/script") >"$work/printed" 2>"$work/errors" &
group=$!
wait "$group" || die "docs/quickstart.md failed: $(tail -n 3 "$work/printed" "$work/errors")"
diff <(plain "$work/expected") <(plain "$work/printed") || die "docs/quickstart.md (<) differs from the actual output (>)"
[ "$(grep -vc '^@@@$' "$work/expected")" -ge 15 ] || die "docs/quickstart.md shows fewer than 15 lines of output"
echo "smoke: passed for the README and docs/quickstart.md"
