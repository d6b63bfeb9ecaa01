#!/bin/sh
# Patroni runs this script once on the first primary, with the superuser's connection string. Passwords come from the
# environment and reach psql through its input, so that no process list shows them.
set -eu
exec "${PSQL:-psql}" --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$1" << 'SQL'
\set owner_password `printf %s "$LOWMARK_PASSWORD"`
\set pooler_password `printf %s "$PGBOUNCER_PASSWORD"`
CREATE ROLE lowmark LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE pgbouncer LOGIN PASSWORD :'pooler_password';
CREATE DATABASE lowmark OWNER lowmark;
\connect lowmark
-- What PgBouncer checks passwords with. Not those of superusers and of replication.
CREATE SCHEMA pgbouncer;
GRANT USAGE ON SCHEMA pgbouncer TO pgbouncer;
CREATE FUNCTION pgbouncer.login(wanted text) RETURNS TABLE (name text, secret text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
  AS 'SELECT rolname::text, rolpassword::text FROM pg_authid
    WHERE rolname = wanted AND rolcanlogin AND NOT rolsuper AND NOT rolreplication';
REVOKE ALL ON FUNCTION pgbouncer.login(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgbouncer.login(text) TO pgbouncer;
SQL
