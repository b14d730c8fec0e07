import { readFileSync } from 'node:fs'
import { endProcesses, startAdmin } from '@lockstep/testing/processes'
import { createClient } from '@redis/client'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Stores, startStores, startValkey } from './stores.ts'

let stores: Stores
const addressOf = (secret: string) => stores.addressOf(secret)
const connect = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

beforeAll(async () => {
  stores = await startStores()
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
  expect((await app.query(`select from admin_actions where action = 'try'`)).rowCount).toBe(1)
  for (const attempt of [`update admin_actions set action = 'x'`, 'delete from admin_actions'])
    await expect(app.query(attempt)).rejects.toMatchObject({ code: '42501' })
})

test('[SHIP-18] Valkey accepts only the user of the service, with its password', async () => {
  const url = await startValkey(stores.secrets)
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
  expect(await ping(url)).toBe('PONG')
  expect(await ping(url.replace(/lockstep:\w+@/, ''))).toContain('NOAUTH')
  expect(await ping(url.replace(/lockstep:\w+@/, 'lockstep:secret@'))).toContain('WRONGPASS')
  const page = readFileSync('docs/deploying.md', 'utf8')
  expect(page).toContain(`\`\`\`\n${readFileSync('deploy/valkey/users.acl', 'utf8')}\`\`\``)
})
