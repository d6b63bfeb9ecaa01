#!/bin/sh
# Behaves as the official image of HAProxy documents: in the foreground, as master and worker.
set -eu
case "${1:-haproxy}" in -*) set -- haproxy "$@" ;; esac
if [ "$1" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi
exec "$@"
