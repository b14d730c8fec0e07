#!/bin/sh
# Gives the two roles the passwords that stand in their addresses. The image of PostgreSQL runs it after roles.sql, once,
# when its data directory is empty.
set -eu
secrets="${SECRETS_FOLDER:-/run/secrets}"

# Passwords are read by psql itself: none of them is an argument that other processes could list.
for role in app migrator; do
  case $role in
    app) file="$secrets/database_url" ;;
    migrator) file="$secrets/migrator_database_url" ;;
  esac
  psql --set=ON_ERROR_STOP=1 --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set=role="lockstep_$role" --set=file="$file" <<'SQL'
\set password `sed -E 's|^postgres(ql)?://[^:@/]+:([^@/]+)@.*$|\2|' :'file'`
alter role :"role" password :'password';
SQL
done
