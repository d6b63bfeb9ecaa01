#!/bin/sh
# Starts the program that the first argument names: etcd, patroni, haproxy or pgbouncer. Passwords come from the files
# in /run/secrets.
set -eu
secret() { cat "/run/secrets/$1"; }
program=$1
shift
case $program in
  etcd)
    client="http://$ETCD_NAME:2379" peer="http://$ETCD_NAME:2380"
    exec etcd --enable-v2 --data-dir /var/lib/etcd/data \
      --listen-client-urls http://0.0.0.0:2379 --advertise-client-urls "$client" \
      --listen-peer-urls http://0.0.0.0:2380 --initial-advertise-peer-urls "$peer" "$@"
    ;;
  patroni)
    PATRONI_SUPERUSER_PASSWORD=$(secret superuser_password)
    PATRONI_REPLICATION_PASSWORD=$(secret replication_password)
    PATRONI_REWIND_PASSWORD=$(secret rewind_password)
    LOWMARK_PASSWORD=$(secret lowmark_password)
    PGBOUNCER_PASSWORD=$(secret pgbouncer_password)
    export PATRONI_SUPERUSER_PASSWORD PATRONI_REPLICATION_PASSWORD PATRONI_REWIND_PASSWORD LOWMARK_PASSWORD PGBOUNCER_PASSWORD
    exec patroni /etc/lowmark-ha/patroni.yml "$@"
    ;;
  haproxy)
    exec haproxy -W -db -f /etc/lowmark-ha/haproxy.cfg "$@"
    ;;
  pgbouncer)
    umask 077
    printf '"pgbouncer" "%s"\n' "$(secret pgbouncer_password)" > /tmp/users.txt
    exec pgbouncer /etc/lowmark-ha/pgbouncer.ini "$@"
    ;;
  *)
    echo "start.sh: there is no $program: etcd, patroni, haproxy or pgbouncer" >&2
    exit 2
    ;;
esac
