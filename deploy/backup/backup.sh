#!/usr/bin/env bash
# Writes a backup of the whole database to a folder, as one file, while the service runs:
#   DATABASE_URL=postgres://lockstep_migrator:…@host:5432/lockstep backup.sh <folder>
# Creates the folder if it does not exist. Keeps the newest KEEP backups (14) of the folder, and deletes older ones.
# With AGE_RECIPIENT (age1…, or an SSH public key) or GPG_RECIPIENT (a fingerprint) the file is encrypted, and needs the
# private key to be read.
set -euo pipefail
# shellcheck source=deploy/backup/connect.sh
. "$(dirname "$0")/connect.sh"
folder=${1:?'Usage: backup.sh <folder>'}
keep=${KEEP:-14}
[[ $keep =~ ^[1-9][0-9]*$ ]] || { echo 'KEEP must be a number above 0' >&2 && exit 2; }
[[ -z ${AGE_RECIPIENT:-} || -z ${GPG_RECIPIENT:-} ]] || { echo 'Set AGE_RECIPIENT or GPG_RECIPIENT, not both' >&2 && exit 2; }

# The file contains all accounts: only its owner may read it.
umask 077
mkdir -p "$folder"
file=$folder/lockstep-$(date --utc +%Y-%m-%dT%H-%M-%SZ).dump
if [[ -n ${AGE_RECIPIENT:-} ]]; then
  file+=.age
  encrypt=(age --recipient "$AGE_RECIPIENT")
elif [[ -n ${GPG_RECIPIENT:-} ]]; then
  file+=.gpg
  # A key that was imported is not trusted by itself; naming it is trust enough.
  encrypt=(gpg --batch --quiet --trust-model always --encrypt --recipient "$GPG_RECIPIENT")
fi
trap 'rm -f "$file.part"' EXIT
if [[ -v encrypt ]]; then
  # What is not encrypted is never on a disk.
  pg_dump --dbname="$url" --format=custom | "${encrypt[@]}" >"$file.part"
else
  pg_dump --dbname="$url" --format=custom --file="$file.part"
  pg_restore --list "$file.part" >/dev/null
fi
sync "$file.part"
# An incomplete backup never has the final name.
mv "$file.part" "$file"
echo "$file"

find "$folder" -maxdepth 1 -name 'lockstep-*.dump*' ! -name '*.part' | sort --reverse | tail --lines=+"$((keep + 1))" |
  xargs --no-run-if-empty rm --
