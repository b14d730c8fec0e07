import { readFileSync } from 'node:fs'
import { chmod, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import {
  endProcesses,
  eventually,
  launch,
  newPostgresFolder,
  type PostgresStore,
  runAsPostgres,
  startAdmin,
  startPostgres,
} from '@lockstep/testing/processes'
import { createClient } from '@redis/client'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeSecrets } from './secrets.ts'

interface Compose {
  services: { postgres: { environment: Record<string, string>; volumes: string[] } }
}
const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as Compose

let secrets: string
let postgres: PostgresStore
/** The address in a secret, with the host and port of the test server. */
const addressOf = (secret: string) => {
  const { port } = new URL(postgres.url)
  return readFileSync(join(secrets, secret), 'utf8').trim().replace('@postgres:5432/', `@127.0.0.1:${port}/`)
}
const connect = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

beforeAll(async () => {
  secrets = join(await makeSecrets(), 'secrets')
  postgres = await startPostgres()
  const superuser = await connect(postgres.url)
  await superuser.query('create database lockstep')
  // Like the PostgreSQL image with an empty data directory: require passwords over TCP, and run all initialization files.
  const rules = [
    'local all all trust',
    'host all postgres 127.0.0.1/32 trust',
    'host all all 127.0.0.1/32 scram-sha-256',
  ]
  await writeFile(join(postgres.data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  await superuser.query('select pg_reload_conf()')
  await superuser.end()
  const folder = await newPostgresFolder()
  await cp(secrets, join(folder, 'secrets'), { recursive: true })
  await chmod(join(folder, 'secrets'), 0o755)
  const { environment, volumes } = services.postgres
  const files = volumes
    .map((volume) => volume.split(':'))
    .filter(([, target]) => target?.startsWith('/docker-entrypoint-initdb.d/'))
    .sort(([, a = ''], [, b = '']) => a.localeCompare(b))
    .map(([source = '']) => source)
  expect(files).toHaveLength(2)
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
}, 120_000)
afterAll(endProcesses)

test('[SHIP-17] [SHIP-18] the migrator creates the schema without a signing secret', async () => {
  const migrating = startAdmin(['migrate'], {
    ENVIRONMENT: 'production',
    DATABASE_URL: addressOf('migrator_database_url'),
  })
  expect([await migrating.ended, migrating.output()]).toEqual([0, expect.stringContaining('migrated')])
})

test('[SHIP-18] neither role is or can become a superuser, and each needs its password', async () => {
  for (const secret of ['database_url', 'migrator_database_url']) {
    const role = await connect(addressOf(secret))
    const { rows } = await role.query(
      `select current_user::text as name, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as is_privileged,
        (select count(*)::int from pg_auth_members where member = pg_roles.oid) as memberships
      from pg_roles where rolname = current_user`,
    )
    expect(rows).toEqual([{ name: new URL(addressOf(secret)).username, is_privileged: false, memberships: 0 }])
    await expect(role.query(`copy (select 1) to program 'true'`)).rejects.toMatchObject({ code: '42501' })
    await role.end()
    const guessed = Object.assign(new URL(addressOf(secret)), { password: 'secret' }).href
    await expect(connect(guessed)).rejects.toMatchObject({ code: '28P01' })
  }
})

test('[SHIP-19] the role of the service changes rows, and can only read and append to the audit log', async () => {
  const app = await connect(addressOf('database_url'))
  await app.query(`update users set username = username`)
  const attempts = ['create table mine ()', 'alter table cards add mine int', 'truncate cards', 'create schema mine']
  for (const attempt of attempts) await expect(app.query(attempt)).rejects.toMatchObject({ code: '42501' })
  await app.query(`insert into admin_actions (operator, action) values ('root', 'try')`)
  expect((await app.query('select from admin_actions')).rowCount).toBe(1)
  for (const attempt of [`update admin_actions set action = 'x'`, 'delete from admin_actions'])
    await expect(app.query(attempt)).rejects.toMatchObject({ code: '42501' })
  await app.end()
})

test('[SHIP-18] Valkey accepts only the user of the service, with its password', async () => {
  const port = String(await freePort())
  const server = launch('redis-server', ['--port', port, '--save', '', '--aclfile', join(secrets, 'valkey_users')])
  const url = readFileSync(join(secrets, 'redis_url'), 'utf8').trim().replace('valkey:6379', `127.0.0.1:${port}`)
  const ping = async (address: string) => {
    const client = createClient({ url: address, socket: { reconnectStrategy: false } })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.ping()
    } catch (error) {
      return (error as Error).message
    } finally {
      client.destroy()
    }
  }
  await eventually('Valkey accepts the user', async () => server.hasEnded() || (await ping(url)) === 'PONG')
  expect(server.hasEnded(), server.output()).toBe(false)
  expect(await ping(url.replace(/lockstep:\w+@/, ''))).toContain('NOAUTH')
  expect(await ping(url.replace(/lockstep:\w+@/, 'lockstep:secret@'))).toContain('WRONGPASS')
  const page = readFileSync('docs/deploying.md', 'utf8')
  expect(page).toContain(`\`\`\`\n${readFileSync('deploy/valkey/users.acl', 'utf8')}\`\`\``)
})
