#!/bin/sh
# Sets the passwords of the two roles from their connection URLs. The PostgreSQL image runs it once after roles.sql, when the
# data directory is empty.
set -eu
secrets="${SECRETS_FOLDER:-/run/secrets}"

# psql reads the passwords itself, so that no other process can see them as arguments.
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
