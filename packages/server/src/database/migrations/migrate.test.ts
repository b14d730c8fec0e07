import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { endProcesses, eventually, lockWaiters, startAdmin, startServiceProcess } from '@lockstep/testing/processes'
import { databaseUrl, onServer, openSql, REDIS } from '@lockstep/testing/template-database'
import type pg from 'pg'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ensureDatabase, migrate } from './migrate.ts'
import { requireSchema, SchemaMismatch } from './schema-compatibility.ts'

// Retries take time, and commands are separate processes.
vi.setConfig({ testTimeout: 60_000 })
const FIRST = { '0001_things.sql': 'create table things (id integer primary key, board_id integer);' }
let url: string
let sql: pg.Pool
let said: { message: string; details: Record<string, unknown> }[]
const say = (details: object, message: string) => void said.push({ message, details: { ...details } })
const log = { info: say, warn: say }
const messages = () => said.map(({ message }) => message)
const tries = () => messages().filter((message) => message === 'migration timed out on a lock, will retry').length

beforeEach(async () => {
  const name = `lockstep_test_${randomBytes(6).toString('hex')}`
  url = databaseUrl(name)
  await ensureDatabase(url)
  sql = openSql(url)
  said = []
  onTestFinished(async () => {
    await sql.end()
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  })
})
afterAll(endProcesses)

/** The migrations of one version of the service. */
async function version(files: Record<string, string>): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return pathToFileURL(`${folder}/`)
}
const run = async (files: Record<string, string>, options: { isStopped?: boolean } = {}) =>
  migrate(url, { log, folder: await version(files), ...options })
const applied = async () =>
  (await sql.query<{ name: string }>('select name from schema_migrations order by name')).rows.map(({ name }) => name)
/** Holds a lock on a table in an open transaction. */
async function hold(table: string) {
  const holder = await sql.connect()
  await holder.query('begin')
  await holder.query(`lock table ${table} in access share mode`)
  return async () => {
    await holder.query('commit')
    holder.release()
  }
}

describe('locks', () => {
  test('[UPG-1] a migration that waits for a lock backs off after a second, so that requests get through, and retries until it succeeds', async () => {
    await run(FIRST)
    const release = await hold('things')
    const migrating = run({ ...FIRST, '0002_names.sql': '-- phase: expand\nalter table things add column name text;' })
    await eventually('it waits', async () => (await lockWaiters(sql)) > 0)
    // Behind a migration that kept waiting, this statement would end only after the holder.
    await sql.query('insert into things values (1)')
    await eventually('it made way', () => tries() > 0)
    await sql.query('insert into things values (2)')
    await release()
    expect(await migrating).toEqual(['0002_names'])
    expect(said.find(({ details }) => 'oldest' in details)?.details).toMatchObject({
      name: '0002_names',
      attempt: 1,
      code: '55P03',
      oldest: expect.stringMatching(/^pid \d+ \(/),
    })
    expect((await sql.query('select name from things')).rowCount).toBe(2)
  })

  test('[UPG-2] a failed migration leaves the schema unchanged, and earlier migrations applied', async () => {
    const files = {
      ...FIRST,
      '0002_names.sql': '-- phase: expand\nalter table things add column name text;\nselect 1 / 0;',
    }
    await expect(run(files)).rejects.toThrow('division by zero')
    expect(await applied()).toEqual(['0001_things'])
    await expect(sql.query('select name from things')).rejects.toThrow('does not exist')
    expect(
      await run({ ...files, '0002_names.sql': '-- phase: expand\nalter table things add column name text;' }),
    ).toEqual(['0002_names'])
  })

  test('[UPG-3] of instances that start together, one migrates and the others wait, also for an index that is created concurrently', async () => {
    const index =
      '-- phase: expand, no transaction\ncreate index concurrently if not exists things_by_board on things (board_id);'
    const done = await Promise.all(Array.from({ length: 4 }, () => run({ ...FIRST, '0002_index.sql': index })))
    expect(done.flat()).toEqual(['0001_things', '0002_index'])
    expect(messages()).toContain('waiting for another instance to migrate')
  })

  test('[UPG-3] an instance without pending migrations does not wait for one that migrates', async () => {
    await run(FIRST)
    const release = await hold('things')
    const migrating = run({ ...FIRST, '0002_names.sql': '-- phase: expand\nalter table things add column name text;' })
    await eventually('it made way', () => tries() > 0)
    expect(await run(FIRST)).toEqual([])
    await release()
    await migrating
  })
})

describe('without a transaction', () => {
  test('[UPG-4] an index that an interruption left invalid is created again', async () => {
    await run(FIRST)
    await sql.query('insert into things select n, 1 from generate_series(1, 100) n')
    // Duplicate rows make it fail after it has started.
    await expect(sql.query('create unique index concurrently things_by_board on things (board_id)')).rejects.toThrow()
    const isValid = async () =>
      (await sql.query(`select indisvalid from pg_index where indexrelid = 'things_by_board'::regclass`)).rows
    expect(await isValid()).toEqual([{ indisvalid: false }])
    const index =
      '-- phase: expand, no transaction\ncreate index concurrently if not exists things_by_board on things (board_id);'
    await run({ ...FIRST, '0002_index.sql': index })
    expect(await isValid()).toEqual([{ indisvalid: true }])
    expect(messages()).toContain('dropping an unfinished index, to create it again')
  })
})

describe('in batches', () => {
  const batches = `-- phase: migrate, in batches
update things set board_id = 7 where id = any (array(
  select id from things where board_id is null limit 100 for update skip locked));
-- left
select from things where board_id is null limit 1;`

  test('[UPG-5] rows are changed in batches, each in its own transaction, and an interrupted migration continues where it stopped', async () => {
    await run(FIRST)
    await sql.query('insert into things select n from generate_series(1, 1050) n')
    // The sixth batch fails.
    await sql.query(`alter table things add constraint early check (board_id is null or id <= 500)`)
    await expect(run({ ...FIRST, '0002_boards.sql': batches })).rejects.toThrow('early')
    const countLeft = async () => (await sql.query('select from things where board_id is null')).rowCount
    expect(await countLeft()).toBe(550)
    await sql.query('alter table things drop constraint early')
    expect(await run({ ...FIRST, '0002_boards.sql': batches })).toEqual(['0002_boards'])
    expect(await countLeft()).toBe(0)
    expect(said.flatMap(({ details }) => details['changed'] ?? [])).toEqual([
      ...[100, 200, 300, 400, 500],
      ...[100, 200, 300, 400, 500, 550],
    ])
  })

  test('[UPG-5] a migration waits for rows that a request has locked, without blocking requests', async () => {
    await run(FIRST)
    await sql.query('insert into things select n from generate_series(1, 10) n')
    const holder = await sql.connect()
    await holder.query('begin')
    await holder.query('select from things where id = 3 for update')
    const migrating = run({ ...FIRST, '0002_boards.sql': batches })
    const looking = `select from pg_stat_activity where datname = current_database() and query like '%is null limit 1;'`
    await eventually('it looks for remaining rows', async () => (await sql.query(looking)).rowCount === 1)
    expect((await sql.query('select from things where board_id = 7')).rowCount).toBe(9)
    await holder.query('commit')
    holder.release()
    await migrating
    expect((await sql.query('select from things where board_id = 7')).rowCount).toBe(10)
  })
})

describe('versions', () => {
  const expand = { '0002_names.sql': '-- phase: expand\nalter table things add column name text;' }
  const contract = {
    '0003_no_boards.sql':
      '-- phase: contract\n-- needs: 0002_names\n-- because: versions with names do not read it.\nalter table things drop column board_id;',
  }

  test('[UPG-6] a version runs on a schema with later additions, and after removals of what it does not use', async () => {
    await run({ ...FIRST, ...expand })
    expect(await run(FIRST)).toEqual([])
    await run({ ...FIRST, ...expand, ...contract })
    expect(await run({ ...FIRST, ...expand })).toEqual([])
  })

  test('[UPG-6] a version refuses to start when something that it uses was removed, and the message says so', async () => {
    await run({ ...FIRST, ...expand })
    await run({ ...FIRST, ...expand, ...contract })
    const sentence =
      'This version is too old for the database: 0003_no_boards removed something that versions without 0002_names use. Start a newer version, or restore a backup that is older than this migration.'
    await expect(run(FIRST)).rejects.toThrow(new SchemaMismatch(sentence))
    await expect(requireSchema(url, log, { folder: await version(FIRST) })).rejects.toThrow(
      new SchemaMismatch(sentence),
    )
  })

  test('[UPG-7] an upgrade that skips a version is rejected if it would remove what running instances use, unless all are stopped', async () => {
    await run(FIRST)
    await expect(run({ ...FIRST, ...expand, ...contract })).rejects.toThrow('stop every instance')
    expect(await applied()).toEqual(['0001_things'])
    expect(await run({ ...FIRST, ...expand, ...contract }, { isStopped: true })).toEqual([
      '0002_names',
      '0003_no_boards',
    ])
  })

  test('[UPG-7] a new database gets all migrations at once', async () => {
    expect(await run({ ...FIRST, ...expand, ...contract })).toEqual(['0001_things', '0002_names', '0003_no_boards'])
  })

  test('[UPG-8] a version that does not migrate waits until the schema has what it uses, and fails with the name of the missing migration', async () => {
    await run(FIRST)
    const folder = await version({ ...FIRST, ...expand, ...contract })
    const missing = requireSchema(url, log, { folder, maxWaitMs: 0 })
    await expect(missing).rejects.toThrow('The database is older than this version: 0002_names is missing.')
    const waiting = requireSchema(url, log, { folder })
    await eventually('it waits', () => messages().includes('waiting for the schema to be migrated'))
    await run({ ...FIRST, ...expand })
    // A version does not wait for contract migrations.
    await waiting
  })
})

describe('a database of 0.1.0 or of a development version', () => {
  // What they recorded: 0.1.0 has only its baseline.
  test.each([
    ['0.1.0', ['0001_baseline']],
    ['a development version', ['0001_baseline', '0002_invitations', '0003_access_tokens']],
  ])('[UPG-15] of %s is refused by the start and by the command, and is not changed', async (_, recorded) => {
    await sql.query(`
      create table schema_migrations (
        name text primary key,
        phase text not null,
        needs text,
        applied_at timestamptz not null default clock_timestamp()
      );
      create table boards (id uuid primary key, title text not null);
      insert into boards values ('00000000-0000-4000-8000-000000000001', 'Board')`)
    await sql.query(`insert into schema_migrations (name, phase) select unnest($1::text[]), 'expand'`, [recorded])
    const content = async () => [
      (
        await sql.query('select table_name, column_name from information_schema.columns where table_schema = $1', [
          'public',
        ])
      ).rows,
      (await sql.query('select * from boards')).rows,
      (await sql.query('select * from schema_migrations')).rows,
    ]
    const before = await content()
    const sentence =
      'This database was made by 0.1.0 or a development version, and cannot be upgraded to this version. Nothing in it was changed. Set DATABASE_URL to a new database.'
    const command = startAdmin(['migrate'], { DATABASE_URL: url })
    expect([await command.ended, command.output()]).toEqual([1, `${sentence}\n`])
    for (const MIGRATE_ON_START of ['true', 'false'])
      await expect(startServiceProcess({ DATABASE_URL: url, REDIS_URL: REDIS, MIGRATE_ON_START })).rejects.toThrow(
        sentence,
      )
    expect(await content()).toEqual(before)
  })
})

test('[UPG-10] the operator can migrate with a command, which prints what it does', async () => {
  const first = startAdmin(['migrate'], { DATABASE_URL: url })
  expect(await first.ended).toBe(0)
  expect(first.output()).toMatch(/^migrated \{"name":"0001_schema"\}$/m)
  const second = startAdmin(['migrate'], { DATABASE_URL: url })
  expect(await second.ended).toBe(0)
  expect(second.output()).toBe('Nothing to migrate.\n')
})
