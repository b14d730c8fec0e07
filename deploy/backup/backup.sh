#!/usr/bin/env bash
# Writes a backup of the whole database to a folder, as one file, while the service runs:
#   DATABASE_URL=postgres://lockstep_migrator:…@host:5432/lockstep backup.sh <folder>
# Keeps the newest KEEP backups (14) of the folder, and deletes older ones.
set -euo pipefail
# shellcheck source=deploy/backup/connect.sh
. "$(dirname "$0")/connect.sh"
folder=${1:?'Usage: backup.sh <folder>'}
keep=${KEEP:-14}
[[ $keep =~ ^[1-9][0-9]*$ ]] || { echo 'KEEP must be a number above 0' >&2 && exit 2; }

# The file contains all accounts: only its owner may read it.
umask 077
file=$folder/lockstep-$(date --utc +%Y-%m-%dT%H-%M-%SZ).dump
trap 'rm -f "$file.part"' EXIT
pg_dump --dbname="$url" --format=custom --file="$file.part"
pg_restore --list "$file.part" >/dev/null
sync "$file.part"
# An incomplete backup never has the final name.
mv "$file.part" "$file"
echo "$file"

find "$folder" -maxdepth 1 -name 'lockstep-*.dump' | sort --reverse | tail --lines=+"$((keep + 1))" | xargs --no-run-if-empty rm --
