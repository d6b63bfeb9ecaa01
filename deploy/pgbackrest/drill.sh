#!/usr/bin/env bash
# drill.sh [--to TIME] [--timeline N] [--set BACKUP]: restores into a folder of its own, beside a server that runs, and looks at every row and index of it.
# Ends with 0 and what it found, or with what is damaged. With DRILL_SERVE it goes on serving what was restored, for further checks.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
: "${DRILL_DIR:=/drill}"
live=$PGDATA
export PGDATA=$DRILL_DIR/data PGHOST=$DRILL_DIR/socket

stop() { pg_ctl -D "$PGDATA" -s -m immediate stop > /dev/null 2>&1 || true; }

start() {
  local options="-c listen_addresses='${DRILL_SERVE:-}' -c unix_socket_directories='$PGHOST' -c archive_mode=off -c max_connections=100"
  mkdir -p "$PGHOST"
  # Recovery is as long as the log is; a server that gives up ends it.
  pg_ctl -D "$PGDATA" -s -w -t 86400 -l "$DRILL_DIR/log" -o "$options" start || {
    tail -n 20 "$DRILL_DIR/log" >&2
    die "FAILED: what was restored does not start; its last lines are above."
  }
  while [ "$(ask -c 'SELECT pg_is_in_recovery()')" != f ]; do sleep 1; done
}

# Every page and index of every database, and every row of the tables by what they must fulfil.
check() {
  pg_amcheck --all --install-missing --heapallindexed --no-strict-names > "$DRILL_DIR/amcheck" 2>&1 || {
    head -n 40 "$DRILL_DIR/amcheck" >&2
    die "FAILED: pg_amcheck finds damage; it is above."
  }
  ask -f "$here/ledger.sql" > "$DRILL_DIR/ledger" || die "FAILED: the rows contradict each other; the first is above."
}

main() {
  local begun=$SECONDS restored last
  read_target "$@"
  [ "$PGDATA" != "$live" ] || die "DRILL_DIR is the server's own folder."
  trap stop EXIT
  stop
  rm -rf "$PGDATA" && mkdir -p -m 700 "$PGDATA"
  restore_files --archive-mode=off --no-delta || die "FAILED: the backup cannot be read; pgBackRest says why above."
  start
  restored=$SECONDS
  last=$(ask -c "SELECT to_char(pg_last_xact_replay_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') || ', '
    || round(extract(epoch FROM now() - pg_last_xact_replay_timestamp())) || ' s ago'")
  check
  say "restored in $((restored - begun)) s, checked in $((SECONDS - restored)) s: no damage."
  say "the last transaction is of ${last:-the backup itself}."
  cat "$DRILL_DIR/ledger" >&2
  [ -n "${DRILL_SERVE:-}" ] || return 0
  touch "$DRILL_DIR/checked"
  trap 'exit 0' TERM INT
  sleep infinity &
  wait $!
}

rm -f "$DRILL_DIR/checked"
main "$@"
