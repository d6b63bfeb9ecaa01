#!/usr/bin/env bash
# restore.sh check --to TIME|latest …: whether the restore is possible; changes nothing.
# restore.sh files --to TIME|latest [--timeline N] [--set BACKUP]: replaces the files of a stopped server with the
# backup's.
# restore.sh finish: waits until the restarted server has reached the target, and prints the time that it reached.
# WAL that the server could not archive is kept first, so that a restore to any moment up to its end remains possible.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

# Copies the WAL of a server that did not archive all of it; a server that was shut down in order has. Skipped after an
# unfinished restore, which has no new WAL.
keep_wal() {
  local state folder
  [ -d "$PGDATA/pg_wal" ] && [ ! -e "$PGDATA/recovery.signal" ] || return 0
  state=$(LC_ALL=C pg_controldata -D "$PGDATA" | sed -n 's/^Database cluster state: *//p')
  if [ "$state" = 'shut down' ] && ! compgen -G "$PGDATA/pg_wal/archive_status/*.ready" > /dev/null; then return 0; fi
  folder=$KEPT_DIR/wal-$(date -u +%Y%m%dT%H%M%SZ)
  mkdir -p "$KEPT_DIR"
  cp -a "$PGDATA/pg_wal" "$folder.part"
  mv "$folder.part" "$folder"
  say "not all was archived ($state): kept $folder. Remove it when nothing of it is missed."
}

files() {
  read_target "$@"
  ! pg_isready --quiet || die "PostgreSQL runs: stop it first."
  keep_wal
  # Left by a server that was killed; the server does not run.
  rm -f "$PGDATA/postmaster.pid"
  restore_files
  say "the files are back. Start PostgreSQL, which now reads its log up to $to."
}

finish() {
  local reached answer since=$SECONDS
  while [ "$(ask -c 'SELECT pg_is_in_recovery()' 2> /dev/null)" != f ]; do
    sleep 1
    # 1: the server replays WAL and accepts no connections yet.
    answer=0 && pg_isready --quiet || answer=$?
    [ $answer -gt 1 ] || since=$SECONDS
    [ $((SECONDS - since)) -lt "${FINISH_SECONDS:-60}" ] || die "PostgreSQL does not start: its log says why. Another --to may be given."
  done
  [ -f "$PGDATA/backup_label.old" ] || die "this server was not restored."
  ask -f "$here/restored.sql"
  reached=$(ask -c "SELECT to_char(pg_last_xact_replay_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
  # Without a transaction after the backup: the start of the backup.
  [ -n "$reached" ] || reached=$(utc "$(date -d "$(sed -n 's/^START TIME: //p' "$PGDATA/backup_label.old")" +%s)")
  say "restored. The last transaction is of $reached: what \`ledger restored --lost-since\` is to be told."
}

case ${1:-} in
  check) shift && read_target "$@" ;;
  files | finish) "$@" ;;
  *) die "what? check, files or finish" ;;
esac
