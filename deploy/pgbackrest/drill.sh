#!/usr/bin/env bash
# drill.sh [--to TIME] [--timeline N] [--set BACKUP]: restores into a separate folder, beside a running server, and
# checks every row and index of the restored database. Prints its findings and ends with 0, or prints the damage and
# fails. With DRILL_SERVE it then serves the restored database for further checks.
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
  # Recovery may take as long as the WAL demands, so the timeout is a day. A server that gives up ends the wait.
  pg_ctl -D "$PGDATA" -s -w -t 86400 -l "$DRILL_DIR/log" -o "$options" start || {
    tail -n 20 "$DRILL_DIR/log" >&2
    die "FAILED: what was restored does not start; its last lines are above."
  }
  while [ "$(ask -c 'SELECT pg_is_in_recovery()')" != f ]; do sleep 1; done
}

# Checks every page and index of every database, and every row by the constraints and the rules of the ledger.
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
