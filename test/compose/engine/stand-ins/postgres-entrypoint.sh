#!/bin/sh
# Behaves as the official image of PostgreSQL documents, as far as docker-compose.yml uses it.
set -eu

case "${1:-postgres}" in -*) set -- postgres "$@" ;; esac
[ "${1:-postgres}" = postgres ] || exec "$@"
[ $# -gt 0 ] || set -- postgres

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  chmod 3775 /var/run/postgresql
  find "$PGDATA" /var/run/postgresql ! -user postgres -exec chown postgres:postgres '{}' +
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

# Reads VARIABLE or the file that VARIABLE_FILE names; setting both is an error.
from_file() {
  eval "value=\${$1:-} file=\${$1_FILE:-}"
  if [ -n "$value" ] && [ -n "$file" ]; then echo "error: both $1 and $1_FILE are set" >&2; exit 1; fi
  if [ -n "$file" ]; then value=$(cat "$file"); fi
  export "$1=$value"
  unset "$1_FILE"
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  from_file POSTGRES_PASSWORD
  from_file POSTGRES_USER
  from_file POSTGRES_DB
  user=${POSTGRES_USER:-postgres}
  database=${POSTGRES_DB:-$user}
  if [ -z "$POSTGRES_PASSWORD" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified.' >&2
    exit 1
  fi
  umask 077
  printf '%s\n' "$POSTGRES_PASSWORD" > /tmp/password
  # shellcheck disable=SC2086
  initdb --username="$user" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-} > /tmp/initdb.log
  rm /tmp/password
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  echo "host all all all ${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >> "$PGDATA/pg_hba.conf"
  umask 022

  # Listens on its socket only: clients connect by TCP, and must not connect before the setup is complete.
  pg_ctl --wait --silent -o "-c listen_addresses=''" --log=/tmp/first.log start
  [ "$database" = postgres ] || createdb -U "$user" "$database"
  for file in /docker-entrypoint-initdb.d/*; do
    case "$file" in
      *.sh) . "$file" ;;
      *.sql) psql -v ON_ERROR_STOP=1 --no-psqlrc -U "$user" -d "$database" -f "$file" ;;
      *.sql.gz) gunzip -c "$file" | psql -v ON_ERROR_STOP=1 --no-psqlrc -U "$user" -d "$database" ;;
    esac
  done
  pg_ctl --wait --silent --mode=fast stop
  unset POSTGRES_PASSWORD
fi

exec "$@"
