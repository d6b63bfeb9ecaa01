# What the scripts of this folder share; they source it. PGHOST, PGUSER and PGDATABASE lead to the server, PGDATA is its folder.
export PGBACKREST_STANZA=${PGBACKREST_STANZA:-lowmark}
: "${PGDATA:=/var/lib/postgresql/data}" "${KEPT_DIR:=/var/lib/pgbackrest/kept}"

say() { echo "backups: $*" >&2; }
die() {
  say "$@"
  exit 1
}

# One value, or lines of values.
ask() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"; }

# The moments at which the backups were complete, in seconds since 1970, the oldest first.
backup_ends() {
  local info
  info=$(pgbackrest info --output=json)
  # None is no error.
  grep -o '"timestamp":{"start":[0-9]*,"stop":[0-9]*}' <<< "$info" | sed 's/.*:\([0-9]*\)}/\1/' || true
}

utc() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

# Reads --to TIME|latest, --timeline N and --set BACKUP into variables, and refuses a time of which there is no backup.
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

# Restores into the folder PGDATA what `read_target` found; PostgreSQL then reads WAL up to there when it starts.
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
  # The standby that commits of before waited for does not follow this server.
  options+=(--recovery-option=synchronous_standby_names=)
  # What the repository lacks may be in a folder beside it: wal-get.sh says which.
  # pgBackRest writes it between single quotes.
  get="pgbackrest --pg1-path=\"$PGDATA\" archive-get %f \"%p\" || bash \"$here/wal-get.sh\" \"$KEPT_DIR\" \"${WAL_DIR:-}\" %f \"%p\""
  pgbackrest --pg1-path="$PGDATA" "${options[@]}" "--recovery-option=restore_command=$get" "$@" restore
}
