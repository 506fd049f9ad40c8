# Functions of redis-cluster and redis-sentinel, which source this file: they start and
# stop Redis processes that have all their files in one directory.

die() { echo "$(basename "$0"): $*" >&2; exit 1; }

# read_options DEFAULT-PORT DEFAULT-NAME ARGUMENT... sets port, dir, action and
# options.
read_options() {
  port=$1
  dir=${TMPDIR:-/tmp}/$2
  shift 2
  OPTIND=1
  while getopts p:d:h opt; do
    case $opt in
      p) port=$OPTARG ;;
      d) dir=$OPTARG ;;
      *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    esac
  done
  shift $((OPTIND - 1))
  action=up
  if [ "${1:-}" = up ] || [ "${1:-}" = down ]; then action=$1; shift; fi
  [ "${1:-}" != -- ] || shift
  options=("$@")
  command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    die "redis-server and redis-cli are not in PATH; install Redis 6.2 or newer"
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
}

# find_bloom sets bloom to the options that a server needs for the Bloom filter type: none
# since Redis 8, a module before.
find_bloom() {
  bloom=()
  local version file
  version=$(redis-server --version | sed -n 's/.*v=\([0-9]*\).*/\1/p')
  [ "$version" -lt 8 ] || return 0
  for file in "${FRESHET_REDISBLOOM:-}" "${REDIS_CACHE:-$HOME/.cache/redisbloom-test}/redisbloom.so" \
    /usr/lib/redis/modules/redisbloom.so /usr/local/lib/redis/modules/redisbloom.so /opt/redis-stack/lib/redisbloom.so; do
    if [ -n "$file" ] && [ -f "$file" ]; then
      bloom=(--loadmodule "$file")
      return 0
    fi
  done
  die "redis-server $version has no Bloom filter type: set FRESHET_REDISBLOOM to the path of redisbloom.so, or install Redis 8"
}

# alive PORT reports whether the process started on the port from this directory still runs.
# It is not confused by another process that has received the same pid since.
alive() {
  local pid
  pid=$(cat "$dir/$1.pid" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "^[^ ]*redis-\(server\|sentinel\) 127.0.0.1:$1 "
}

# start_node PORT OPTION... starts a server on the port, or a Sentinel if the first option is
# --sentinel, unless it already runs.
start_node() {
  local p=$1 file=()
  shift
  alive "$p" && return
  [ "$(redis-cli -p "$p" ping 2>/dev/null)" = "" ] || die "another Redis uses port $p; choose others with -p"
  if [ "${1:-}" = --sentinel ]; then
    file=("$dir/sentinel-$p.conf")
  else
    # Nothing is saved to disk, and replicas are synchronized without delay.
    set -- --save '' --appendonly no --dbfilename "$p.rdb" --rdb-del-sync-files yes --repl-diskless-sync-delay 0 "$@"
  fi
  redis-server "${file[@]}" --port "$p" --bind 127.0.0.1 --dir "$dir" --daemonize yes \
    --pidfile "$dir/$p.pid" --logfile "$dir/$p.log" "$@" >/dev/null
  answers() { [ "$(redis-cli -p "$p" ping 2>/dev/null)" = PONG ]; }
  wait_for answers "no answer on port $p; the log is $dir/$p.log"
}

# wait_for FUNCTION MESSAGE waits up to half a minute until the function succeeds; otherwise it fails with the message.
wait_for() {
  local try
  for try in $(seq 300); do
    "$1" 2>/dev/null && return
    sleep 0.1
  done
  die "$2"
}

# stop_all kills the processes whose pid files are in the directory, and removes the
# directory.
stop_all() {
  local file p
  for file in "$dir"/*.pid; do
    [ -e "$file" ] || continue
    p=$(basename "$file" .pid)
    alive "$p" && kill -9 "$(cat "$file")"
  done
  rm -rf -- "$dir"
}
