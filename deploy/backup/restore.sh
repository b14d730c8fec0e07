#!/usr/bin/env bash
# Replaces the whole database with a backup of backup.sh. Stop the service first:
#   DATABASE_URL=postgres://lockstep_migrator:…@host:5432/lockstep restore.sh <file>
# The role must own the database, and both roles must exist (deploy/postgres/roles.sql). Everything happens in one transaction:
# if anything fails, the database stays as it was.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=deploy/backup/connect.sh
. "$here/connect.sh"
file=${1:?'Usage: restore.sh <file>'}
case $file in
  *.age) decrypt="age --decrypt --identity <file of the private key> --output '${file%.age}' '$file'" ;;
  *.gpg) decrypt="gpg --output '${file%.gpg}' --decrypt '$file'" ;;
esac
if [[ -v decrypt ]]; then
  echo "$file is encrypted. Decrypt it first: (umask 077; $decrypt)" >&2
  exit 2
fi
pg_restore --list "$file" >/dev/null

psql=(psql --dbname="$url" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1)
others=$("${psql[@]}" --command="select count(*) from pg_stat_activity
  where datname = current_database() and usename is not null and pid <> pg_backend_pid()")
if [[ $others -gt 0 ]]; then
  echo "$others other connections use this database. Stop the service first: docker compose stop one two" >&2
  exit 1
fi

# If a command of the group fails, psql reaches the end of its input before `commit`, and nothing has changed.
{
  # An empty schema, because tables of a newer version must not remain.
  cat <<'SQL'
begin;
set local lock_timeout = '10s';
set local client_min_messages = warning;
drop schema public cascade;
create schema public authorization pg_database_owner;
grant usage on schema public to public;
SQL
  pg_restore --file=- "$file"
  # A new epoch, as `npm run admin -- new-epoch` starts it: sequence numbers after the backup will be used again, so every client
  # must reload its boards.
  cat <<'SQL'
do $$
declare
  next integer;
begin
  select greatest(max(epoch) + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer) into next
    from public.board_stream;
  execute format('alter table public.board_stream alter column epoch set default %s', next);
  update public.board_stream set epoch = next;
end
$$;
commit;
SQL
} | "${psql[@]}" --output=/dev/null

# Without the warnings about tables of the system.
"${psql[@]}" --command='set client_min_messages = error' --command='analyze'
wrong=$("${psql[@]}" --file="$here/check.sql" | grep --invert-match '|0$' || true)
if [[ -n $wrong ]]; then
  echo "Restored, but the data of the backup is inconsistent:"$'\n'"$wrong" >&2
  exit 3
fi
echo "Restored $file. Start the service again."
