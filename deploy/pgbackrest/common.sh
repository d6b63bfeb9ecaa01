# Shared by the scripts of this folder, which source it. PGHOST, PGUSER and PGDATABASE lead to the server; PGDATA is its
# data folder.
export PGBACKREST_STANZA=${PGBACKREST_STANZA:-lowmark}
: "${PGDATA:=/var/lib/postgresql/data}" "${KEPT_DIR:=/var/lib/pgbackrest/kept}"

say() { echo "backups: $*" >&2; }
die() {
  say "$@"
  exit 1
}

# Prints the values of a query, one row a line.
ask() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"; }

# The times at which the backups were complete, as Unix times in seconds, oldest first.
backup_ends() {
  local info
  info=$(pgbackrest info --output=json)
  # grep fails where there is no backup, which is not an error.
  grep -o '"timestamp":{"start":[0-9]*,"stop":[0-9]*}' <<< "$info" | sed 's/.*:\([0-9]*\)}/\1/' || true
}

utc() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

# Reads --to TIME|latest, --timeline N and --set BACKUP into variables, and refuses a time that no backup covers.
read_target() {
  local oldest seconds
  to=latest timeline='' backup=''
  while [ $# -gt 0 ]; do
    case $1 in
      --to) to=${2:-} ;;
      --timeline) timeline=${2:-} ;;
      --set) backup=${2:-} ;;
      *) die "unknown: $1. Give --to 2026-03-01T02:00:00Z, or --to latest; --timeline N and --set BACKUP where not the newest." ;;
    esac
    [ -n "${2:-}" ] || die "$1 needs a value."
    shift 2
  done
  [[ $timeline =~ ^[0-9]*$ ]] || die "$timeline is no number of a timeline: ./lowmark backups lists them."
  oldest=$(backup_ends | sed -n 1p)
  [ -n "$oldest" ] || die "there is no backup in the repository: see docs/operating/backup.md#where-backups-are-kept."
  [ "$to" != latest ] || return 0
  [[ $to =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{1,6})?Z$ ]] && seconds=$(date -u -d "$to" +%s 2> /dev/null) ||
    die "$to is no time in UTC such as 2026-03-01T02:00:00Z."
  [ "$seconds" -gt "$oldest" ] || die "the oldest backup is of $(utc "$oldest"): $to cannot be gone back to."
  [ "$seconds" -le "$(date +%s)" ] || die "$to has not come yet. All there is: --to latest"
}

# Restores into PGDATA the target that `read_target` read. PostgreSQL replays WAL up to the target at its next start.
restore_files() {
  local options=() get
  if [ "$to" = latest ]; then
    options+=(--type=default)
  else
    local time=${to%Z}
    options+=(--type=time "--target=${time/T/ }+00" --target-action=promote)
  fi
  [ -z "$timeline" ] || options+=("--target-timeline=$timeline")
  [ -z "$backup" ] || options+=("--set=$backup")
  # Commits must not wait for the earlier server's standby, which does not follow this server.
  options+=(--recovery-option=synchronous_standby_names=)
  # wal-get.sh finds WAL that the repository lacks. pgBackRest writes the command between single quotes, so it must not
  # contain any.
  get="pgbackrest --pg1-path=\"$PGDATA\" archive-get %f \"%p\" || bash \"$here/wal-get.sh\" \"$KEPT_DIR\" \"${WAL_DIR:-}\" %f \"%p\""
  pgbackrest --pg1-path="$PGDATA" "${options[@]}" "--recovery-option=restore_command=$get" "$@" restore
}
