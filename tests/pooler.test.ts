import { fileURLToPath } from 'node:url'
import { mulberry32 } from '@lockstep/testing/prng'
import { endProcesses, eventually, holdBoard, inherited, launch, startAdmin } from '@lockstep/testing/processes'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Database, statement } from '../packages/server/src/database/database.ts'
import { requireFitPooler, UnfitPooler } from '../packages/server/src/database/pooler-check.ts'
import { failed, runAcceptance } from './acceptance-suite.ts'
import { type PooledDatabase, startPooledDatabase } from './pooler/pooled-service.ts'
import { sendMixedRequests } from './pooler/requests.ts'
import { newBoard, newUser } from './recovery/writers.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })
const MAIN = fileURLToPath(new URL('../packages/server/src/main.ts', import.meta.url))

let database: PooledDatabase
beforeAll(async () => {
  database = await startPooledDatabase()
})
afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
  await endProcesses()
})

describe('two instances behind pgbouncer, which keeps 20 prepared statements', () => {
  let baseUrls: string[]
  beforeAll(async () => {
    const pooler = await database.startPgbouncer({ max_prepared_statements: '20' })
    baseUrls = (await database.startInstances(pooler.url)).map(({ baseUrl }) => baseUrl)
  })

  test('[POOL-1] pass the acceptance suite', async () => {
    const [baseUrl = '', besideUrl = ''] = baseUrls
    const { results, summary } = await runAcceptance(baseUrl, '--quick', '--beside', besideUrl)
    console.log(summary.join('\n'))
    expect(failed(results)).toEqual([])
    expect(results.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(400)
  })

  test('[POOL-1] answer no request with 5xx', async () => {
    const { api } = await newUser(baseUrls[0] as string)
    const statuses = await sendMixedRequests(api, 1_000)
    expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 201])
  })

  test('[POOL-2] wait two seconds for a lock and five for a statement', async () => {
    const { api } = await newUser(baseUrls[0] as string)
    const { board_id } = await newBoard(api)
    const write = async () => {
      const began = performance.now()
      const { status, body } = await api.send('updateBoard', { params: { board_id }, body: { title: 'Next' } })
      return { status, code: (body as { code?: string }).code, seconds: (performance.now() - began) / 1_000 }
    }
    const held = await holdBoard(database.sql, board_id)
    const locked = await write()
    await held.release()
    expect(locked).toMatchObject({ status: 503, code: 'board_busy' })
    expect(locked.seconds).toBeGreaterThan(1.9)
    expect(locked.seconds).toBeLessThan(4)

    await database.sql.query(`
      create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(8); return new; end';
      create trigger wait before update on boards for each row execute function wait()`)
    const slow = await write()
    await database.sql.query('drop trigger wait on boards; drop function wait()')
    expect(slow).toMatchObject({ status: 503, code: 'query_timeout' })
    expect(slow.seconds).toBeGreaterThan(4.9)
    expect(slow.seconds).toBeLessThan(7.5)
    expect((await write()).status).toBe(200)
  })
})

describe('a pooler that is not fit is refused at the start:', () => {
  const refusal = async (settings: Record<string, string | undefined>, isOld = false) => {
    const pooler = await database.startPgbouncer(settings, isOld)
    const error = await requireFitPooler(pooler.url).catch((each: unknown) => each)
    await pooler.process.end('SIGQUIT')
    expect(error).toBeInstanceOf(UnfitPooler)
    return (error as Error).message
  }

  test('[POOL-3] pgbouncer 1.18, in one sentence and with exit code 1', async () => {
    const pooler = await database.startPgbouncer({ max_prepared_statements: undefined }, true)
    const settings = { DATABASE_URL: pooler.url, REDIS_URL: '', LOG_FORMAT: 'json' }
    const service = launch(process.execPath, [MAIN], { env: { ...inherited, ...settings } })
    expect(await service.ended).toBe(1)
    const [line = '{}', ...others] = service.output().trim().split('\n')
    expect(others).toEqual([])
    expect(JSON.parse(line)).toMatchObject({
      level: 'fatal',
      msg: expect.stringMatching(
        /^The pooler at 127\.0\.0\.1:\d+ loses prepared statements \(.+\): use pgbouncer 1\.21 or newer with max_prepared_statements above 0 \(docs\/deploying\.md#pgbouncer\)\.$/,
      ),
    })
    const command = startAdmin(['statistics'], { DATABASE_URL: pooler.url })
    expect(await command.ended).toBe(1)
    expect(command.output()).toMatch(/^The pooler at .+ loses prepared statements/)
    await pooler.process.end('SIGQUIT')
  })

  test('[POOL-3] one without prepared statements, whatever the number of its connections', async () => {
    for (const default_pool_size of ['1', '2', '6'])
      expect(await refusal({ max_prepared_statements: '0', default_pool_size })).toMatch(/loses prepared statements/)
  })

  test('[POOL-3] one with default settings, which rejects the settings of the service', async () => {
    expect(await refusal({ ignore_startup_parameters: undefined })).toMatch(
      /rejects the settings of the service \(unsupported startup parameter: \w+\): let it ignore them \(ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, options\), and set them for the role/,
    )
  })

  test('[POOL-3] one with a role that lacks a timeout', async () => {
    await database.sql.query('alter role lockstep_app reset lock_timeout')
    const said = await refusal({})
    await database.sql.query('alter role lockstep_app set lock_timeout = 2000')
    expect(said).toMatch(
      /drops lock_timeout, which is 0 ms instead of 2000 ms: run alter role lockstep_app set lock_timeout = 2000, and then RECONNECT in the pooler/,
    )
  })

  test('[POOL-3] one in statement mode', async () => {
    expect(await refusal({ pool_mode: 'statement' })).toMatch(/has no transactions \(.+\): set pool_mode = transaction/)
  })

  test('[POOL-3] a fit one is not, in transaction and in session mode, nor is PostgreSQL itself', async () => {
    for (const pool_mode of ['transaction', 'session']) {
      const pooler = await database.startPgbouncer({ pool_mode })
      await requireFitPooler(pooler.url)
      await pooler.process.end('SIGQUIT')
    }
    await requireFitPooler(database.url('lockstep'))
  })
})

const readSettings = statement(
  'read_settings',
  () => sql<{ value: string }>`select current_setting('jit') || ' ' || current_setting('plan_cache_mode') as value`,
)

describe('JIT and the plan mode', () => {
  test('[RUN-15] are sent with every connection of the service, and options of the URL come after them', async () => {
    const url = database.url('lockstep')
    const settings = async (at: string) => {
      const direct = new Database({ url: at, size: 1, onError: () => {} })
      const rows = await direct.run(readSettings, {})
      await direct.close()
      return rows.map(({ value }) => value)
    }
    expect(await settings(url)).toEqual(['off force_generic_plan'])
    expect(await settings(`${url}?options=-c%20plan_cache_mode%3Dauto`)).toEqual(['off auto'])
  })

  test('[RUN-15] cause a warning at the start when they do not hold behind a pooler, and none otherwise', async () => {
    const pooler = await database.startPgbouncer()
    expect(await requireFitPooler(pooler.url)).toEqual([])
    await database.sql.query('alter role lockstep_app reset jit')
    await pooler.reconnect()
    const [service] = await database.startInstances(pooler.url)
    await database.sql.query('alter role lockstep_app set jit = off')
    const warning =
      /"level":"warn".+PostgreSQL at .+ runs with jit = on instead of off, .+ behind a pooler run alter role lockstep_app set jit = off, and then RECONNECT in the pooler/
    await eventually('the warning', () => warning.test(service?.output() ?? ''))
    expect(service?.output()).not.toContain('plan_cache_mode =')
  })
})

test('[POOL-4] migrations are refused through a pooler, unless there is nothing to migrate', async () => {
  const pooler = await database.startPgbouncer()
  const migrate = async (url: string) => {
    const migration = startAdmin(['migrate'], { DATABASE_URL: url })
    return [await migration.ended, migration.output()]
  }
  expect((await migrate(pooler.url))[0]).toBe(0)
  await database.pool('postgres').query('create database empty')
  const empty = pooler.url.replace(/\w+$/, 'empty')
  expect(await migrate(empty)).toEqual([
    1,
    expect.stringMatching(/^DATABASE_URL leads to a pooler at .+: run npm run migrate with the address of PostgreSQL/),
  ])
})

test('[POOL-5] a statement whose result has another type fails until RECONNECT, as documented', async () => {
  await database.sql.query('create table marks (n int); grant select on marks to lockstep_app')
  const pooler = await database.startPgbouncer()
  const pooled = new Database({ url: pooler.url, size: 2, onError: () => {} })
  const read = statement('read_marks', () => sql<{ n: number }>`select n from marks`)
  expect(await pooled.run(read, {})).toEqual([])
  await database.sql.query('alter table marks alter column n type text')
  for (let i = 0; i < 2; i++) await expect(pooled.run(read, {})).rejects.toThrow('cached plan')
  await pooler.reconnect()
  expect(await pooled.run(read, {})).toEqual([])
  await pooled.close()
})

const echo = Array.from({ length: 12 }, (_, i) =>
  statement(
    `echo_${i}`,
    (args: { n: number }) => sql<{ n: number; nth: number }>`select ${args.n}::int as n, ${sql.lit(i)} as nth`,
  ),
)
const divide = statement('divide', (args: { n: number }) => sql<{ n: number }>`select 1 / ${args.n}::int as n`)

// Not both at once: when a batch fails, pgbouncer 1.24 can lose track of statements that it evicted in it.
test.each([
  { what: 'are evicted all the time', max_prepared_statements: '3', isFailing: false },
  { what: 'fail', max_prepared_statements: '20', isFailing: true },
])('[POOL-5] batches whose statements $what and run on other sessions get their own results', async (pool) => {
  const { isFailing, max_prepared_statements } = pool
  const pooler = await database.startPgbouncer({ max_prepared_statements, default_pool_size: '2' })
  const pooled = new Database({ url: pooler.url, size: 4, onError: () => {} })
  const random = mulberry32(1)
  const below = (n: number) => Math.floor(random() * n)
  let failures = 0
  const transaction = async (round: number) => {
    const several = Array.from({ length: 1 + below(6) }, () => below(echo.length))
    const expected = several.map((nth, i) => [{ n: round * 10 + i, nth }])
    const failsAt = isFailing && below(3) === 0 ? below(several.length) : -1
    const work = pooled.transaction(
      async () => {},
      async (tx) => {
        const results = several.map((nth, i) =>
          i === failsAt ? tx.run(divide, { n: 0 }) : tx.run(echo[nth] as (typeof echo)[number], { n: round * 10 + i }),
        )
        return { result: await Promise.all(results) }
      },
    )
    if (failsAt < 0) return expect(await work).toEqual(expected)
    failures++
    return expect(work).rejects.toMatchObject({ code: '22012' })
  }
  for (let round = 0; round < 100; round++) {
    await Promise.all(Array.from({ length: 4 }, () => transaction(round)))
    const [row] = await pooled.run(divide, { n: 1 })
    expect(row).toEqual({ n: 1 })
  }
  if (isFailing) expect(failures).toBeGreaterThan(50)
  await pooled.close()
})
