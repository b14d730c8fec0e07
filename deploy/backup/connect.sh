# shellcheck shell=bash disable=SC2034
# Sourced by backup.sh and restore.sh. Sets $url, the address from DATABASE_URL or DATABASE_URL_FILE without its password, and
# passes the password in the environment: other users of the machine can read the arguments of a process.
if [[ -n ${DATABASE_URL_FILE:-} ]]; then
  DATABASE_URL=$(<"$DATABASE_URL_FILE")
fi
if [[ ! ${DATABASE_URL:-} =~ ^(postgres(ql)?://)([^:@/]+)(:([^@/]*))?@(.+)$ ]]; then
  echo 'Set DATABASE_URL or DATABASE_URL_FILE to postgres://<role>:<password>@<host>:<port>/<database>' >&2
  exit 2
fi
url=${BASH_REMATCH[1]}${BASH_REMATCH[3]}@${BASH_REMATCH[6]}
if [[ -n ${BASH_REMATCH[5]} ]]; then
  PGPASSWORD=$(printf '%b' "${BASH_REMATCH[5]//%/\\x}")
  export PGPASSWORD
fi
unset DATABASE_URL
# As the service does: whatever the URL calls it, the certificate and its name are verified. libpq needs a file of authorities.
if [[ $url == *[?\&]sslrootcert=* && $url != *[?\&]sslmode=* ]]; then
  url+='&sslmode=verify-full'
fi
if [[ $url =~ [?\&]sslmode=(require|verify-ca|verify-full)(&|$) ]]; then
  url=${url/sslmode=${BASH_REMATCH[1]}/sslmode=verify-full}
  export PGSSLROOTCERT=${PGSSLROOTCERT:-/etc/ssl/certs/ca-certificates.crt}
fi
