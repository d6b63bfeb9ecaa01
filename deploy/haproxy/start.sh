#!/bin/sh
# Starts HAProxy with the variables that haproxy.cfg reads. TRUSTED: the addresses of TRUSTED_PROXIES; TRUSTED_BY_TLS:
# those of them that are addresses or ranges, and no names of networks. TLS: `on` where
# there is a certificate. PAGES: the host of CONSOLE_ORIGIN where its scheme is https.
set -eu
trusted= by_tls=
for name in $(echo "${TRUSTED_PROXIES:-}" | tr , ' '); do
  case $name in
    loopback) name='127.0.0.0/8 ::1' ;;
    linklocal) name='169.254.0.0/16 fe80::/10' ;;
    uniquelocal) name='10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7' ;;
    *) by_tls="${by_tls:+$by_tls }$name" ;;
  esac
  trusted="${trusted:+$trusted }$name"
done
# The default is an address that no client has.
export TRUSTED="${trusted:-255.255.255.255}" TRUSTED_BY_TLS="${by_tls:-255.255.255.255}" TLS=off
export TLS_FOLDER="${TLS_FOLDER:-/run/lowmark/tls}"
for certificate in "$TLS_FOLDER"/*.pem; do
  [ ! -e "$certificate" ] || TLS=on
done
# `start.sh has-new-tls` succeeds where a certificate was added after a start without one. HAProxy opens its TLS port
# only at a start.
state=${SOCKET:-/tmp/haproxy.sock}.tls
if [ "${1:-}" = has-new-tls ]; then
  [ "$TLS" = on ] && [ "$(cat "$state" 2> /dev/null)" = off ]
  exit
fi
echo "$TLS" > "$state"
# The default is a name that no host has.
PAGES=none.invalid
case ${CONSOLE_ORIGIN:-} in
  https://*)
    PAGES=${CONSOLE_ORIGIN#https://}
    PAGES=$(echo "${PAGES%%[:/]*}" | tr 'A-Z' 'a-z')
    ;;
esac
export PAGES
exec haproxy -W -db -f "$(dirname "$0")/haproxy.cfg" "$@"
