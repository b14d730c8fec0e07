import { connect, createServer } from 'node:net'
import { listenOnFreePort } from '@lockstep/testing/ports'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestService } from '@lockstep/testing/service'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Database, statement } from './database.ts'
import { problemOfDatabase } from './errors.ts'
import { PipelinedConnection } from './pipeline.ts'

let service: TestService
let client: pg.Client
let pipelined: PipelinedConnection
beforeAll(async () => {
  service = await startService()
  client = new pg.Client({ connectionString: service.databaseUrl, query_timeout: 500 })
  await client.connect()
  await client.query('create table marks (n integer primary key)')
})
afterAll(async () => {
  await client.end()
  await service.stop()
})
beforeEach(async () => {
  await client.query('truncate marks')
  pipelined = new PipelinedConnection(client)
})

const insert = (n: unknown) => ({ name: 'insert', text: 'insert into marks values ($1) returning n', values: [n] })
const command = (text: string) => ({ name: text, text, values: [] })
const kept = async () => (await client.query<{ n: number }>('select n from marks order by n')).rows.map(({ n }) => n)
/** The outcome of each statement: its rows or its error. */
const settled = async (outcomes: Promise<{ rows: object[] }>[]) =>
  (await Promise.allSettled(outcomes)).map((one) =>
    one.status === 'fulfilled' ? one.value.rows : (one.reason as { code: string }).code,
  )

describe('statements of one batch', () => {
  test('[WRITE-8] have their own rows, by name and type, and their own tag', async () => {
    const typed = `select 1::int2 as small, 9007199254740991::int8 as large, true as yes, null as none, '{"a":1}'::json as json, '{b,c}'::text[] as list`
    const [first, none, second] = await Promise.all([
      pipelined.run({ ...command(typed), name: 'typed' }),
      pipelined.run(command('truncate marks')),
      pipelined.run({ name: 'many', text: 'select n::text from generate_series(1, $1::int) n', values: [3] }),
    ])
    expect(first.rows).toEqual([
      { small: 1, large: '9007199254740991', yes: true, none: null, json: { a: 1 }, list: ['b', 'c'] },
    ])
    expect(none).toEqual({ rows: [], tag: 'TRUNCATE TABLE' })
    expect(second).toEqual({ rows: [{ n: '1' }, { n: '2' }, { n: '3' }], tag: 'SELECT 3' })
  })

  test('[WRITE-10] fail with the first error, and nothing is written', async () => {
    const outcomes = await settled([1, 2, 2, 3].map((n) => pipelined.run(insert(n))))
    expect(outcomes).toEqual([[{ n: 1 }], [{ n: 2 }], '23505', '23505'])
    expect(await kept()).toEqual([])
    expect(await settled([pipelined.run(insert(4))])).toEqual([[{ n: 4 }]])
    expect(await kept()).toEqual([4])
  })

  test.each([1, 2, 3, 4])('[WRITE-10] fail at COMMIT when they failed before it: statement %i', async (bad) => {
    const begun = [
      pipelined.run(command('begin')),
      ...[1, 2, 3, 4].map((n) => pipelined.run(insert(n === bad ? 'x' : n))),
    ]
    const outcomes = await settled([...begun, pipelined.run(command('commit'))])
    expect(outcomes.slice(bad)).toEqual(Array.from({ length: 6 - bad }, () => '22P02'))
    await pipelined.run(command('rollback'))
    expect(await kept()).toEqual([])
  })

  test('[WRITE-10] are not sent when a value cannot be serialized, and the connection stays usable', async () => {
    const circular: unknown[] = []
    circular.push({ circular })
    const outcomes = await Promise.allSettled([pipelined.run(insert(1)), pipelined.run(insert({ circular }))])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await kept()).toEqual([])
    await pipelined.run(insert(2))
    expect(await kept()).toEqual([2])
  })

  test('[WRITE-10] a statement that is called while others are in flight is sent when their results are back', async () => {
    const first = pipelined.run(command('select pg_sleep(0.05)'))
    await new Promise((resolve) => setTimeout(resolve, 10))
    const outcomes = await settled([first, pipelined.run(insert(1)), pipelined.run(insert(2))])
    expect(outcomes).toEqual([[{ pg_sleep: '' }], [{ n: 1 }], [{ n: 2 }]])
  })

  test('[WRITE-10] nothing is sent on a connection that was released', async () => {
    const left = pipelined.run(insert(1))
    pipelined.end()
    await expect(left).rejects.toThrow('over')
    await expect(pipelined.run(insert(2))).rejects.toThrow('over')
    expect(await kept()).toEqual([])
  })
})

describe('a prepared statement', () => {
  test('[UPG-11] whose row type has changed is prepared again, after one failure', async () => {
    const read = () => pipelined.run({ name: 'shape', text: 'select * from shapes', values: [] })
    await client.query('create table shapes as select 1 as a')
    expect((await read()).rows).toEqual([{ a: 1 }])
    await client.query('alter table shapes add b text default $$x$$')
    expect(await settled([read()])).toEqual(['0A000'])
    expect((await read()).rows).toEqual([{ a: 1, b: 'x' }])
  })

  test('[WRITE-10] that was prepared in a failed batch can be used', async () => {
    const late = { name: 'late', text: 'select 7 as seven', values: [] }
    const early = { name: 'early', text: 'select $1::int as one', values: ['x'] }
    expect(await settled([pipelined.run(early), pipelined.run(late)])).toEqual(['22P02', '22P02'])
    expect(await settled([pipelined.run({ ...early, values: [1] }), pipelined.run(late)])).toEqual([
      [{ one: 1 }],
      [{ seven: 7 }],
    ])
  })
})

test('[RUN-4] a server that does not respond in time is given up, and its connection is closed', async () => {
  const slow = new pg.Client({ connectionString: service.databaseUrl, query_timeout: 100 })
  slow.on('error', () => {})
  await slow.connect()
  const asked = new PipelinedConnection(slow)
  await expect(asked.run(command('select pg_sleep(1)'))).rejects.toThrow('Query read timeout')
  expect(asked.broken?.message).toBe('Query read timeout')
  await slow.end()
})

test('[WRITE-10] an SQL error keeps the connection, and a lost connection leaves the pool', async () => {
  const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
  const me = statement('who_am_i', (_, query) => query.selectNoFrom((e) => e.fn<number>('pg_backend_pid').as('pid')))
  const fail = statement('fail', (args: { n: string }, query) =>
    query.selectNoFrom((e) => e.cast<number>(e.val(args.n), 'integer').as('n')),
  )
  const [before] = await database.run(me, {})
  await expect(database.run(fail, { n: 'x' })).rejects.toMatchObject({ code: '22P02' })
  const work = database.transaction(
    async () => {},
    async (tx) => ({ result: await tx.run(fail, { n: 'x' }) }),
  )
  await expect(work).rejects.toMatchObject({ code: '22P02' })
  expect(await database.run(me, {})).toEqual([before])
  const killed = database.transaction(
    async () => {},
    async (tx) => {
      await service.sql.query('select pg_terminate_backend($1)', [before?.pid])
      return { result: await tx.run(me, {}) }
    },
  )
  await expect(killed).rejects.toThrow()
  const [after] = await database.run(me, {})
  expect(after?.pid).not.toBe(before?.pid)
  await database.close()
})

test('[RUN-7] a result that is too large fails only its own statement, and the pool replaces its connection', async () => {
  const long = statement(
    'long_text',
    (args: { length: number }) => sql<{ text: string }>`select repeat('x', ${args.length}::int) as text`,
  )
  const options = { url: service.databaseUrl, size: 1, onError: () => {}, maxResultBytes: 1_000_000 }
  const database = new Database(options)
  const pid = async () => (await database.run(backend, {}))[0]?.pid
  const before = await pid()
  // The bytes that cross the limit, at most 64 KiB, still reach the driver.
  await expect(database.run(long, { length: 1_100_000 })).rejects.toMatchObject({ code: 'result_too_large' })
  expect(await pid()).not.toBe(before)
  const [row] = await database.run(long, { length: 900_000 })
  expect(row?.text.length).toBe(900_000)
  await database.close()
})

test('[RUN-8] a statement timeout is reported as such, and its connection is kept', async () => {
  const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
  const pid = async () => (await database.run(backend, {}))[0]?.pid
  const before = await pid()
  const slow = statement('slow', () => sql`select pg_sleep(10)`)
  const failing = expect(database.run(slow, {})).rejects.toMatchObject({ code: '57014' })
  await eventually('it runs', async () => {
    const { rowCount } = await service.sql.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and query like '%pg_sleep%'`,
      [before],
    )
    return rowCount === 1
  })
  await failing
  expect(await pid()).toBe(before)
  expect(problemOfDatabase(Object.assign(new Error(), { code: '57014' }))?.code).toBe('query_timeout')
  await database.close()
})
const backend = statement('backend_pid', () => sql<{ pid: number }>`select pg_backend_pid() as pid`)

/** The types of messages that confirm a prepared and a closed statement, and that end a batch. */
const [PARSED, CLOSED, READY] = ['1', '3', 'Z']
const isConfirmation = ({ type }: { type: string }) => type === PARSED || type === CLOSED

interface ServerMessage {
  type: string
  bytes: Buffer
}

/** A server that sends the messages of each batch in another order. Returns its address. */
async function startReordering(target: string, reorder: (batch: ServerMessage[]) => ServerMessage[]) {
  const { hostname, port } = new URL(target)
  let moved = 0
  const server = createServer((own) => {
    const store = connect(Number(port), hostname)
    let rest: Buffer = Buffer.alloc(0)
    let batch: ServerMessage[] = []
    store.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const length = 1 + rest.readInt32BE(1)
        batch.push({ type: rest.toString('latin1', 0, 1), bytes: rest.subarray(0, length) })
        rest = rest.subarray(length)
        // A login has no batch; it begins with a message about authentication.
        if (batch.at(-1)?.type !== READY && batch[0]?.type !== 'R') continue
        const sent = reorder(batch)
        moved += sent.filter((message, i) => message !== batch[i]).length
        own.write(Buffer.concat(sent.map((message) => message.bytes)))
        batch = []
      }
    })
    own.on('data', (bytes) => store.write(bytes))
    own.on('close', () => store.destroy())
    for (const socket of [own, store]) socket.on('error', () => {})
  })
  const ownPort = await listenOnFreePort(server)
  const url = Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(ownPort) }).href
  return { url, moved: () => moved, close: () => server.close() }
}

// pgbouncer confirms closed statements itself, in some versions earlier or later than PostgreSQL would (its issue 1555).
test.each<[order: string, (batch: ServerMessage[]) => ServerMessage[]]>([
  ['early', (batch) => [...batch.filter(isConfirmation), ...batch.filter((each) => !isConfirmation(each))]],
  [
    'late, for closed ones',
    (batch) => {
      const others = batch.filter(({ type }) => type !== CLOSED)
      return [...others.slice(0, -1), ...batch.filter(({ type }) => type === CLOSED), ...others.slice(-1)]
    },
  ],
  [
    'exchanged',
    (batch) => {
      const confirmations = batch.filter(isConfirmation)
      return batch.map((each) => (isConfirmation(each) ? (confirmations.pop() as ServerMessage) : each))
    },
  ],
  ['left out', (batch) => batch.filter((each) => !isConfirmation(each))],
])(
  '[POOL-5] results do not depend on confirmations of prepared and closed statements, which come %s',
  async (_, reorder) => {
    const server = await startReordering(service.databaseUrl, reorder)
    const own = new pg.Client({ connectionString: server.url, query_timeout: 2_000 })
    await own.connect()
    const batches = new PipelinedConnection(own)
    const value = (name: string, n: number) =>
      batches.run({ name, text: `select '${name}' as name, $1::int as n`, values: [n] })
    for (let round = 0; round < 3; round++) {
      // Each round prepares two statements, beside one that is prepared already.
      const outcomes = await Promise.all([value('known', 1), value(`new_${round}`, 2), value(`other_${round}`, 3)])
      expect(outcomes.flatMap(({ rows }) => rows)).toEqual([
        { name: 'known', n: 1 },
        { name: `new_${round}`, n: 2 },
        { name: `other_${round}`, n: 3 },
      ])
      expect(await settled([batches.run({ name: 'fails', text: 'select 1 / $1::int', values: [0] })])).toEqual([
        '22012',
      ])
    }
    expect(server.moved()).toBeGreaterThan(0)
    await own.end()
    server.close()
  },
)
