#!/bin/sh
# Starts HAProxy with what haproxy.cfg reads: TRUSTED, the addresses of TRUSTED_PROXIES, and TLS, on where there is a certificate.
set -eu
trusted=
for name in $(echo "${TRUSTED_PROXIES:-}" | tr , ' '); do
  case $name in
    loopback) name='127.0.0.0/8 ::1' ;;
    linklocal) name='169.254.0.0/16 fe80::/10' ;;
    uniquelocal) name='10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7' ;;
  esac
  trusted="${trusted:+$trusted }$name"
done
# Without any: an address that no client has.
export TRUSTED="${trusted:-255.255.255.255}" TLS=off
for certificate in /run/lowmark/tls/*.pem; do
  [ ! -e "$certificate" ] || TLS=on
done
exec haproxy -W -db -f "$(dirname "$0")/haproxy.cfg" "$@"
