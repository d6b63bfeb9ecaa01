#!/usr/bin/env bash
# backups.sh schedule: watches archiving and makes the backups that are due, until it is stopped.
# backups.sh run: makes a backup now.
# backups.sh list: lists the backups.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
: "${TEXTFILES:=/backup-textfiles}" "${BACKUP_FULL_DAYS:=7}" "${BACKUP_EVERY_HOURS:=24}"
RETRY_SECONDS=600

# Prints the kind of backup that is due: full, diff or none. After a restore a full one is due: earlier backups are of
# another timeline, and pgBackRest would choose them for a time that they do not cover.
due() {
  ask -v info="$(pgbackrest info --output=json)" -v days="$BACKUP_FULL_DAYS" -v hours="$BACKUP_EVERY_HOURS" << 'SQL'
WITH backup AS (
  SELECT b ->> 'type' AS type, to_timestamp((b -> 'timestamp' ->> 'stop')::bigint) AS stopped, left(b -> 'archive' ->> 'stop', 8) AS timeline
  FROM json_array_elements(:'info'::json -> 0 -> 'backup') b
), newest AS (SELECT * FROM backup ORDER BY stopped DESC LIMIT 1)
SELECT CASE
  WHEN NOT EXISTS (SELECT FROM newest WHERE timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)) THEN 'full'
  WHEN NOT EXISTS (SELECT FROM backup WHERE type = 'full' AND stopped > now() - make_interval(days => :days)) THEN 'full'
  WHEN NOT EXISTS (SELECT FROM backup WHERE stopped > now() - make_interval(hours => :hours)) THEN 'diff'
  ELSE '' END;
SQL
}

# For the alert ArchiveStopped: seconds for which the oldest complete WAL file has waited for its archiving.
note_archive() {
  ask > "$TEXTFILES/archive.prom.part" << 'SQL'
SELECT 'lowmark_archive_waiting_seconds ' || round(coalesce(extract(epoch FROM CASE current_setting('archive_mode')
    WHEN 'off' THEN now() - pg_postmaster_start_time()
    ELSE now() - (SELECT min(modification) FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') END), 0));
SQL
  mv "$TEXTFILES/archive.prom.part" "$TEXTFILES/archive.prom"
}

# Keeps the backups for 30 days, unless the operator's files or environment set another retention.
retention() {
  [ -z "${PGBACKREST_REPO1_RETENTION_FULL:-}${PGBACKREST_REPO1_RETENTION_FULL_TYPE:-}" ] || return 0
  grep -qs '^[[:space:]]*repo1-retention-full' "${PGBACKREST_CONFIG_INCLUDE_PATH:-/etc/pgbackrest/conf.d}"/*.conf ||
    echo --repo1-retention-full-type=time --repo1-retention-full=30
}

run() {
  local kind=${1:-$(due)}
  kind=${kind:-diff}
  say "begins: $kind"
  # shellcheck disable=SC2046 # two words or none
  pgbackrest --type="$kind" $(retention) backup || die "no backup: pgBackRest says why above. The one before is as it was."
  # The alert BackupOld reads the time of this file.
  touch "$TEXTFILES/backup.prom"
  say "done: $kind. Restores may go back to $(utc "$(backup_ends | sed -n 1p)")."
}

schedule() {
  local next=0
  trap 'exit 0' TERM INT
  until ask -c 'SELECT' > /dev/null 2>&1; do pause 2; done
  until pgbackrest stanza-create; do pause 30; done
  while :; do
    note_archive || say "PostgreSQL does not answer"
    if [ $SECONDS -ge $next ] && kind=$(due 2> /dev/null) && [ -n "$kind" ]; then
      # Runs in a separate process, since a failure ends the process. The schedule tries again later; BackupOld reports
      # a lasting failure.
      "$0" run "$kind" || next=$((SECONDS + RETRY_SECONDS))
    fi
    pause "${BACKUP_LOOK_SECONDS:-15}"
  done
}

# Waits in the background, so that a signal ends the script at once.
pause() {
  sleep "$1" &
  wait $!
}

list() {
  pgbackrest --log-level-console=error info
  local oldest
  oldest=$(backup_ends | sed -n 1p)
  [ -n "$oldest" ] || die "there is no backup yet."
  echo "Restores may go to any moment since $(utc "$oldest")."
  ask -c "SELECT 'Archived last: ' || coalesce(to_char(last_archived_time AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), 'nothing')
      || ', timeline ' || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int FROM pg_stat_archiver" 2> /dev/null ||
    echo 'PostgreSQL does not answer.'
}

case ${1:-} in
  schedule | run | list) "$@" ;;
  *) die "what? schedule, run or list" ;;
esac
