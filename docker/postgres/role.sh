#!/bin/sh
# Creates the role that the servers log in as, which is not a superuser, and the database that it
# owns. The image of PostgreSQL runs this script as POSTGRES_USER when it has made a new volume,
# before anybody else can connect. If it fails, remove the volume before the next start: the image
# runs it only once.
set -eu

if [ -z "$(head -n 1 "$EPSLEDGER_PASSWORD_FILE")" ]; then
  echo "role.sh: EPSLEDGER_PASSWORD_FILE: $EPSLEDGER_PASSWORD_FILE is missing, or its first line is empty" >&2
  exit 1
fi
# psql reads the password from the file, so that it is in no command line and no environment. The
# server's log would quote a statement that fails; here this is switched off.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\set password `head -n 1 "$EPSLEDGER_PASSWORD_FILE"`
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
CREATE ROLE epsledger LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
  PASSWORD :'password';
CREATE DATABASE epsledger OWNER epsledger;
SQL
