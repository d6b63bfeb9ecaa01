#!/bin/sh
# Patroni calls this once, on the first primary, with the address of its superuser. The password comes from the environment and goes to
# psql by its input, so that no list of processes shows it.
set -eu
exec "${PSQL:-psql}" --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$1" << 'SQL'
\set password `printf %s "$LOWMARK_PASSWORD"`
CREATE ROLE lowmark LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE lowmark OWNER lowmark;
SQL
