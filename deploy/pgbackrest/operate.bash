# The commands of ./lowmark for docker-compose.backup.yml; ./lowmark sources this file.
scripts=/usr/local/lib/lowmark

# Not `grep -q` or `head`, which end before they have read everything: the writing command would fail then, and the pipe
# with it.
has_backups() { "${compose[@]}" config --services | grep -x backups > /dev/null; }
require_backups() {
  has_backups || die "there are no continuous backups: docs/operating/backup.md#continuous-backups says how to begin them."
}

backups() {
  require_backups
  [ $# -gt 0 ] || set -- list
  quiet exec -T backups "$scripts/backups.sh" "$@" < /dev/null
}

# Restores to a moment: the files of PostgreSQL come from pgBackRest, and PostgreSQL replays WAL up to the moment.
restore_to() {
  require_backups
  require_own_project
  require_own_database
  require_keys
  run backups "$scripts/restore.sh" check "$@" || die "nothing was changed."
  once secrets || die "the secrets are not in order; nothing was changed."
  quiet stop console redemption api indexer backups
  # A clean stop archives the last WAL. Otherwise restore.sh keeps the WAL that could not be archived.
  quiet stop postgres
  run backups "$scripts/restore.sh" files "$@" ||
    die "not restored. PostgreSQL is stopped, and its files may be half those of the backup: restore again."
  quiet up --detach --no-deps --no-build postgres
  run "${finish_with[@]}" backups "$scripts/restore.sh" finish || die "what was restored does not start: $me logs postgres"
  migrate
  quiet up --detach --no-deps --no-build backups
  say_next
}

# Restores the newest backup beside the database in a separate container, which is removed at the end.
drill() {
  local failed=0 id
  require_backups
  quiet rm --stop --force --volumes drill > /dev/null 2>&1 || true
  DRILL_TO=${1:-latest} quiet up --detach --no-deps --no-build drill
  id=$(quiet ps --all --quiet drill)
  until docker exec "$id" test -e /drill/checked 2> /dev/null; do
    [ "$(docker inspect --format '{{.State.Running}}' "$id")" = true ] || failed=1
    [ $failed = 0 ] || break
    sleep 1
  done
  quiet logs --no-log-prefix drill >&2
  # Fails where the restored schema is not of this version, or SECRETS_KEY does not decrypt the secrets in use.
  [ $failed = 1 ] || run drill-check secrets status || failed=1
  quiet rm --stop --force --volumes drill > /dev/null 2>&1
  [ $failed = 0 ] || die "the drill FAILED: docs/operating/backup.md#the-drill"
  say "the drill found no damage."
}
