import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chmod, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import {
  eventually,
  isRedis,
  launch,
  newPostgresFolder,
  type PostgresStore,
  runAsPostgres,
  startAdmin,
  startPostgres,
} from '@lockstep/testing/processes'
import pg from 'pg'
import { parse } from 'yaml'
import { makeSecrets } from './secrets.ts'

interface ComposeService {
  command: string[]
  environment: Record<string, string>
  secrets: string[]
  volumes: string[]
}
/** compose.yaml with the defaults of its variables. */
const composeFile = readFileSync('compose.yaml', 'utf8').replaceAll(/\$\{\w+:-(\w*)\}/g, '$1')
/** The services of compose.yaml. */
export const { services } = parse(composeFile, { merge: true }) as {
  services: Record<'one' | 'migrate' | 'admin' | 'postgres' | 'valkey' | 'proxy', ComposeService>
}

/** The stores of compose.yaml, run with Debian's packages. */
export interface Stores {
  /** The folder of the documented secrets. */
  secrets: string
  postgres: PostgresStore
  /** The address in a secret, with the host and port of the test server. */
  addressOf: (secret: string) => string
  migrate: () => Promise<void>
}

/** Starts PostgreSQL as the image does with an empty data directory: with passwords over TCP, and the initialization files. */
export async function startStores(): Promise<Stores> {
  const secrets = join(await makeSecrets(), 'secrets')
  const postgres = await startPostgres()
  const superuser = new pg.Client({ connectionString: postgres.url })
  await superuser.connect()
  await superuser.query('create database lockstep')
  const rules = ['local all all trust', 'host all postgres all trust', 'host all all all scram-sha-256']
  await writeFile(join(postgres.data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  await superuser.query('select pg_reload_conf()')
  await superuser.end()
  await initialize(postgres, secrets)
  const addressOf = (secret: string) =>
    readFileSync(join(secrets, secret), 'utf8')
      .trim()
      .replace('@postgres:5432/', `@127.0.0.1:${new URL(postgres.url).port}/`)
  const migrate = async () => {
    const migrating = startAdmin(['migrate'], {
      ENVIRONMENT: 'production',
      DATABASE_URL: addressOf('migrator_database_url'),
    })
    assert.equal(await migrating.ended, 0, migrating.output())
  }
  return { secrets, postgres, addressOf, migrate }
}

async function initialize(postgres: PostgresStore, secrets: string) {
  const folder = await newPostgresFolder()
  await cp(secrets, join(folder, 'secrets'), { recursive: true })
  await chmod(join(folder, 'secrets'), 0o755)
  const { environment, volumes } = services.postgres
  const files = volumes
    .map((volume) => volume.split(':'))
    .filter(([, target]) => target?.startsWith('/docker-entrypoint-initdb.d/'))
    .sort(([, a = ''], [, b = '']) => a.localeCompare(b))
    .map(([source = '']) => source)
  assert.equal(files.length, 2)
  for (const [i, source] of files.entries()) await cp(source, join(folder, String(i)))
  const commands = files.map((source, i) =>
    source.endsWith('.sql')
      ? `psql -v ON_ERROR_STOP=1 --no-password --no-psqlrc --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -f ${folder}/${i}`
      : `${folder}/${i}`,
  )
  await runAsPostgres(commands.join('\n'), {
    ...environment,
    SECRETS_FOLDER: join(folder, 'secrets'),
    PGHOST: '127.0.0.1',
    PGPORT: new URL(postgres.url).port,
  })
}

/** Starts Redis with the options and users of compose.yaml. Returns the address in the secret, with the port of the test server. */
export async function startValkey(secrets: string): Promise<string> {
  const port = String(await freePort())
  const options = services.valkey.command
    .slice(1)
    .map((option) => (option.startsWith('/run/secrets/') ? join(secrets, 'valkey_users') : option))
  const server = launch('redis-server', ['--port', port, '--bind', '127.0.0.1', ...options])
  const url = readFileSync(join(secrets, 'redis_url'), 'utf8').trim().replace('valkey:6379', `127.0.0.1:${port}`)
  await eventually('Redis accepts the user', async () => server.hasEnded() || (await isRedis(url)))
  assert.ok(!server.hasEnded(), server.output())
  return url
}
