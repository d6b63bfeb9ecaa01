#!/bin/sh
# Behaves as the official image of Redis documents, as far as docker-compose.yml uses it.
set -eu
case "${1:-redis-server}" in -* | *.conf) set -- redis-server "$@" ;; esac
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  find . ! -user redis -exec chown redis '{}' +
  exec setpriv --reuid=redis --regid=redis --clear-groups "$0" "$@"
fi
exec "$@"
