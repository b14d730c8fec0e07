#!/bin/sh
# Creates the random secrets of compose.yaml in ./secrets. Keeps those that exist.
set -eu
cd "$(dirname "$0")/.."
mkdir -p -m 700 secrets
# Other users cannot open the folder; the users of the containers must be able to read the files.
umask 022
random() { openssl rand -hex "$1"; }
create() { [ -e "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"; }

create jwt_secret "$(random 32)"
create encryption_key "$(openssl rand -base64 32)"
create postgres_password "$(random 16)"
create grafana_password "$(random 16)"
create database_url "postgres://lockstep_app:$(random 16)@postgres:5432/lockstep"
create migrator_database_url "postgres://lockstep_migrator:$(random 16)@postgres:5432/lockstep"
create redis_url "redis://lockstep:$(random 16)@valkey:6379"
# The password of the user is that of the address.
password=$(sed -E 's|.*:([^@]+)@.*|\1|' secrets/redis_url)
create valkey_users "$(sed "s/>secret/>$password/" deploy/valkey/users.acl)"
