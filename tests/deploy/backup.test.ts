import { readFileSync } from 'node:fs'
import { readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  endProcesses,
  eventually,
  launch,
  newFolder,
  postgresPrograms,
  type ServiceProcess,
  startServiceProcess,
} from '@lockstep/testing/processes'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../recovery/cluster.ts'
import { openWatchers } from '../recovery/watchers.ts'
import { createCard, newBoard, newUser } from '../recovery/writers.ts'
import { type Stores, startStores } from './stores.ts'

const CHECK = readFileSync('deploy/backup/check.sql', 'utf8')

let stores: Stores
let folder: string
let service: ServiceProcess
const settings = () => ({
  DATABASE_URL: stores.addressOf('database_url'),
  JWT_SECRET: readFileSync(join(stores.secrets, 'jwt_secret'), 'utf8').trim(),
  ENVIRONMENT: 'production',
  RATE_LIMITS: 'off',
  REGISTRATION: 'open',
  MIGRATE_ON_START: 'false',
  LOG_LEVEL: 'warn',
})
/** Runs backup.sh or restore.sh with the address of the migrator. */
async function run(script: string, argument: string, env: Record<string, string> = {}) {
  const running = launch(`deploy/backup/${script}`, [argument], {
    env: {
      PATH: `${postgresPrograms()}:${process.env['PATH']}`,
      DATABASE_URL: stores.addressOf('migrator_database_url'),
      ...env,
    },
  })
  return { code: await running.ended, output: running.output().trim() }
}
const asMigrator = async (text: string) => {
  const client = new pg.Client({ connectionString: stores.addressOf('migrator_database_url') })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  ;[stores, folder] = [await startStores(), await newFolder()]
  await stores.migrate()
  service = await startServiceProcess(settings())
}, 180_000)
afterAll(endProcesses)

test('[SHIP-27] backup, loss and restore with the two commands: the data is as it was, and clients reload', async () => {
  const { api, token } = await newUser(service.baseUrl)
  const board = await newBoard(api)
  await createCard(api, board, 'before')
  const backup = await run('backup.sh', folder)
  expect(backup).toEqual({ code: 0, output: expect.stringMatching(/lockstep-[\d-]+T[\d-]+Z\.dump$/) })
  expect((await stat(backup.output)).mode & 0o777).toBe(0o600)
  await createCard(api, board, 'after')
  const watchers = await openWatchers(service.baseUrl, token, board.board_id)
  await eventually('the clients show both cards', () => watchers.show('after'))

  // A running service would keep what it has cached.
  const refused = await run('restore.sh', backup.output)
  expect(refused).toEqual({ code: 1, output: expect.stringContaining('Stop the service first') })
  const { port } = new URL(service.baseUrl)
  await service.end()
  // The loss: tables are gone, and a newer version added one that refers to another.
  await asMigrator(
    'drop table board_events, attachments cascade; create table newer (board_id uuid references boards (id))',
  )
  const restored = await run('restore.sh', backup.output)
  expect(restored).toEqual({ code: 0, output: `Restored ${backup.output}. Start the service again.` })

  const url = stores.addressOf('database_url')
  const invariants = await query<{ wrong: string; count: string }>(url, CHECK)
  expect(invariants.length).toBeGreaterThan(8)
  expect(invariants.filter(({ count }) => count !== '0')).toEqual([])
  expect(await query(url, "select to_regclass('newer') as newer")).toEqual([{ newer: null }])

  service = await startServiceProcess({ ...settings(), PORT: port })
  const { columns } = await api.call('getBoard', { params: board })
  expect(columns.flatMap(({ cards }) => cards.map(({ title }) => title))).toEqual(['before'])
  await eventually('the clients show the restored board', () => watchers.isRight())
  expect(watchers.show('after')).toBe(false)
  await watchers.close()
  // New boards begin in the new epoch, too, and the role of the service has the same privileges as before.
  await newBoard(api)
  expect(await query(url, 'select count(distinct epoch)::int as epochs from board_stream')).toEqual([{ epochs: 1 }])
  await expect(query(url, 'delete from admin_actions')).rejects.toMatchObject({ code: '42501' })
  await expect(query(url, 'create table mine ()')).rejects.toMatchObject({ code: '42501' })
  await asMigrator('create table later ()')
  expect(await query(url, 'select from later')).toEqual([])
  await asMigrator('drop table later')
}, 180_000)

test('[SHIP-27] a damaged backup changes nothing', async () => {
  const { output: file } = await run('backup.sh', folder)
  await service.end()
  const url = stores.addressOf('database_url')
  const cards = () => query(url, 'select id, title from cards order by id')
  const before = await cards()
  const { size } = await stat(file)
  const damaged = join(folder, 'damaged')
  await writeFile(damaged, await readFile(file))
  await truncate(damaged, Math.floor(size * 0.6))
  const restored = await run('restore.sh', damaged)
  expect(restored.code).not.toBe(0)
  expect(await cards()).toEqual(before)
  expect((await run('restore.sh', join(folder, 'absent'))).code).not.toBe(0)
  expect(await cards()).toEqual(before)
})

test('[SHIP-29] the folder is created, and only its owner can read it', async () => {
  const missing = join(await newFolder(), 'backups', 'lockstep')
  expect(await run('backup.sh', missing)).toMatchObject({ code: 0 })
  expect((await stat(missing)).mode & 0o777).toBe(0o700)
  expect(await readdir(missing)).toEqual([expect.stringMatching(/^lockstep-.+\.dump$/)])
})

/** Runs a command line with additional variables, as an operator would. */
async function shell(text: string, env: Record<string, string> = {}) {
  const running = launch('bash', ['-euc', text], { env: { PATH: process.env['PATH'], ...env } })
  expect({ code: await running.ended, output: running.output() }).toMatchObject({ code: 0 })
  return running.output().trim()
}

describe.each<{ tool: string; newKey: (home: string) => Promise<Record<string, string>> }>([
  {
    tool: 'age',
    newKey: async (home) => {
      await shell(`age-keygen --output ${home}/key`)
      return { AGE_RECIPIENT: await shell(`age-keygen -y ${home}/key`) }
    },
  },
  {
    tool: 'gpg',
    newKey: async (home) => {
      const GNUPGHOME = home
      await shell("gpg --batch --quiet --passphrase '' --quick-generate-key backups@example.com", { GNUPGHOME })
      return { GNUPGHOME, GPG_RECIPIENT: 'backups@example.com' }
    },
  },
])('a backup that is encrypted with $tool', ({ tool, newKey }) => {
  let home: string
  let own: string
  let key: Record<string, string>
  beforeAll(async () => {
    ;[home, own] = [await newFolder(), await newFolder()]
    key = await newKey(home)
  })
  afterAll(async () => {
    if (tool === 'gpg') await shell('gpgconf --kill all', key)
  })

  test('[SHIP-30] can be restored after the command that restore.sh prints, and is deleted like others', async () => {
    await writeFile(join(own, `lockstep-2026-01-01T00-00-00Z.dump.${tool}`), '')
    const { code, output: file } = await run('backup.sh', own, { ...key, KEEP: '1' })
    expect({ code, file }).toEqual({ code: 0, file: expect.stringMatching(new RegExp(`\\.dump\\.${tool}$`)) })
    expect(await readdir(own)).toEqual([basename(file)])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    // Every dump begins with this.
    expect((await readFile(file)).includes('PGDMP')).toBe(false)

    const refused = await run('restore.sh', file)
    expect(refused).toEqual({ code: 2, output: expect.stringContaining('is encrypted. Decrypt it first: (') })
    const command = refused.output
      .replace(/^.+Decrypt it first: /, '')
      .replace('<file of the private key>', `${home}/key`)
    await shell(command, key)
    const dump = file.replace(/\.\w+$/, '')
    expect((await stat(dump)).mode & 0o777).toBe(0o600)
    await service.end()
    expect(await run('restore.sh', dump)).toEqual({ code: 0, output: `Restored ${dump}. Start the service again.` })
  })

  test('[SHIP-30] leaves no file when the encryption or the dump fails', async () => {
    const empty = await newFolder()
    const name = `${tool.toUpperCase()}_RECIPIENT`
    expect((await run('backup.sh', empty, { ...key, [name]: 'nobody' })).code).not.toBe(0)
    const wrong = Object.assign(new URL(stores.addressOf('migrator_database_url')), { password: 'secret' }).href
    expect((await run('backup.sh', empty, { ...key, DATABASE_URL: wrong })).code).not.toBe(0)
    expect((await run('backup.sh', empty, { AGE_RECIPIENT: 'age1', GPG_RECIPIENT: 'a@example.com' })).code).toBe(2)
    expect(await readdir(empty)).toEqual([])
  })
})

test('[SHIP-27] only the newest backups are kept, other files stay, and a failed backup leaves no file', async () => {
  const own = await newFolder()
  for (const name of ['lockstep-2026-01-01T00-00-00Z.dump', 'lockstep-2026-01-02T00-00-00Z.dump', 'notes.txt']) {
    await writeFile(join(own, name), '')
    await utimes(join(own, name), 0, 0)
  }
  const { code, output } = await run('backup.sh', own, { KEEP: '2' })
  expect(code).toBe(0)
  const kept = ['lockstep-2026-01-02T00-00-00Z.dump', output.slice(own.length + 1), 'notes.txt']
  expect((await readdir(own)).sort()).toEqual(kept.sort())
  const wrong = Object.assign(new URL(stores.addressOf('migrator_database_url')), { password: 'secret' }).href
  for (const DATABASE_URL of [wrong, ''])
    expect((await run('backup.sh', own, { KEEP: '1', DATABASE_URL })).code).not.toBe(0)
  expect((await readdir(own)).sort()).toEqual(kept.sort())
})
