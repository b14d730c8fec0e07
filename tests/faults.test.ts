import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Failure } from '@lockstep/testing/client'
import {
  endProcesses,
  eventually,
  hear,
  holdBoard,
  lockWaiters,
  type ServiceProcess,
  type Store,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { PASSWORD, startService } from '@lockstep/testing/service'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Database } from '../packages/server/src/database/database.ts'
import { ensureDatabase, migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { channelOf } from '../packages/server/src/realtime/bus.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-fault-tests'
let postgres: Store
let redis: Store
let service: ServiceProcess | undefined
let database: Database
let board: Awaited<ReturnType<typeof newBoard>>

const databaseAt = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
const settings = (name: string) => ({ DATABASE_URL: databaseAt(name), REDIS_URL: redis.url, JWT_SECRET })
const openDatabase = (name: string) => new Database({ url: databaseAt(name), size: 4, onError: () => {} })

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  database = openDatabase('lockstep')
})
// A test that failed in the middle of its fault must not take the next one with it.
beforeEach(async () => {
  for (const store of [postgres, redis]) if (store.process().hasEnded()) await store.start()
  redis.process().signal('SIGCONT')
  if (service?.hasEnded() === false) return
  service = await startServiceProcess(settings('lockstep'))
  board = await newBoard(service)
})
afterAll(async () => {
  await endProcesses()
  await database?.close()
})

/** A board with a column, and its owner. */
async function newBoard({ baseUrl }: ServiceProcess) {
  const anybody = new Client(baseUrl)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  const api = new Client(baseUrl, access_token)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  const params = { board_id, column_id }
  const write = (id = randomUUID()) => api.send('createCard', { params, body: { id, title: 'Written' } })
  return { api, email, params, write }
}
type Board = typeof board

/** Writers to a board, which record acknowledged and rejected writes until they are stopped. */
function startWriters({ write }: Board) {
  const acknowledged: string[] = []
  const rejected: string[] = []
  let isOver = false
  const writers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const id = randomUUID()
      const outcome = await write(id).then(
        ({ status, body }) => (status === 201 ? undefined : (body as Failure).code),
        (error: unknown) => String(error),
      )
      if (outcome === undefined) acknowledged.push(id)
      else await pause(20, rejected.push(outcome))
    }
  })
  const more = async (list: string[]) => {
    const count = list.length + 20
    await eventually('the writers go on', () => list.length >= count)
  }
  const stop = async () => {
    isOver = true
    await Promise.all(writers)
  }
  return { acknowledged, rejected, more, stop, [Symbol.asyncDispose]: stop }
}

async function readCards({ api, params: { board_id } }: Board) {
  const { columns } = await api.call('getBoard', { params: { board_id } })
  return columns.flatMap((column) => column.cards.map((card) => card.id))
}
async function readLog({ params: { board_id } }: Board) {
  const { rows } = await database.pool.query<{ seq: number; body: string }>(
    'select seq::int, body from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows
}

describe('PostgreSQL', () => {
  test.each([
    ['is stopped', 'SIGINT'],
    ['is killed', 'SIGKILL'],
  ] as const)(
    '[RUN-4] [REQ-2] %s and restarted: 503 meanwhile, then recovery, and no acknowledged write is lost',
    async (_, signal) => {
      await using writers = startWriters(board)
      const { acknowledged, rejected, more } = writers
      await more(acknowledged)

      await postgres.process().end(signal)
      await more(rejected)
      const anybody = new Client(board.api.baseUrl)
      const responses = await Promise.all([
        board.api.fail('getBoard', { params: board.params }),
        board.api.fail('listBoards', {}),
        anybody.fail('login', { body: { username: board.email, password: PASSWORD } }),
        anybody.fail('getHealth', {}),
      ])
      expect(responses.map(({ status, code }) => [status, code])).toEqual(Array(4).fill([503, 'unavailable']))

      await postgres.start()
      await more(acknowledged)
      await writers.stop()
      expect(service?.hasEnded()).toBe(false)
      expect(new Set(rejected)).toEqual(new Set(['unavailable']))
      const cards = new Set(await readCards(board))
      expect(acknowledged.filter((id) => !cards.has(id))).toEqual([])
      const log = await readLog(board)
      expect(log.map((event) => event.seq)).toEqual(log.map((_event, i) => i + 1))
    },
  )
})

describe('the connection to PostgreSQL', () => {
  /** An instance in this process, with a proxy between it and its database. */
  async function startBehindProxy() {
    const beyond = await startService()
    const proxy = await startProxy(beyond.databaseUrl)
    const near = await startService({ DATABASE_URL: proxy.url })
    const { id: board_id, owner } = await beyond.board()
    const api = new Client(near.baseUrl, owner.api.token)
    const rename = () => api.send('updateBoard', { params: { board_id }, body: { title: 'Next' } })
    const read = () => api.send('getBoard', { params: { board_id } })
    const dispose = async () => {
      proxy.thaw()
      await near.stop()
      await proxy.close()
      await beyond.stop()
    }
    return { proxy, sql: beyond.sql, board_id, read, rename, [Symbol.asyncDispose]: dispose }
  }

  test('[RUN-4] hangs: requests get 503, and the service recovers', async () => {
    await using behind = await startBehindProxy()
    const both = async () => (await Promise.all([behind.read(), behind.rename()])).map((response) => response.status)
    expect(await both()).toEqual([200, 200])
    behind.proxy.freeze()
    expect(await both()).toEqual([503, 503])
    behind.proxy.thaw()
    expect(await both()).toEqual([200, 200])
  })

  test('[RUN-4] breaks during a change: 503, nothing is changed, and the service recovers', async () => {
    await using behind = await startBehindProxy()
    const before = (await behind.read()).text
    await using held = await holdBoard(behind.sql, behind.board_id)
    const interrupted = behind.rename()
    await held.isAwaited()
    behind.proxy.cut()
    expect((await interrupted).status).toBe(503)
    await held.release()

    expect((await behind.read()).text).toBe(before)
    expect((await behind.rename()).status).toBe(200)
  })
})

describe('Redis', () => {
  test('[EVENT-4] [EVENT-2] each event is published after the commit, with the text of the log', async () => {
    using heard = await hear(redis.url, channelOf(board.params.board_id))
    const before = (await readLog(board)).length
    await Promise.all([board.write(), board.write(), board.write()])
    await eventually('three events', () => heard.messages.length >= 3)

    const events = (await readLog(board)).slice(before)
    expect(heard.messages).toEqual(events.map(({ seq, body }) => `e|1|${seq}||${body}`))
  })

  test('[EVENT-4] nothing is published before the commit', async () => {
    using heard = await hear(redis.url, channelOf(board.params.board_id))
    await database.pool.query(`
      create function wait() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return null; end';
      create constraint trigger wait_at_commit after insert on board_events deferrable initially deferred
        for each row execute function wait()`)
    const holder = await database.pool.connect()
    onTestFinished(async () => {
      holder.release(true)
      await database.pool.query('drop trigger wait_at_commit on board_events')
    })
    await holder.query('select pg_advisory_lock(1)')
    const response = board.write()
    await eventually('the commit waits', async () => (await lockWaiters(database.pool)) > 0)
    await heard.say('before the commit')
    await eventually('the word is heard', () => heard.messages.length > 0)
    expect(heard.messages).toEqual(['before the commit'])

    await holder.query('select pg_advisory_unlock(1)')
    expect((await response).status).toBe(201)
    await eventually('the event', () => heard.messages.length === 2)
  })

  test('[RUN-5] [EVENT-4] restarted: every write succeeds, and then events are published again', async () => {
    using heard = await hear(redis.url, channelOf(board.params.board_id))
    await using writers = startWriters(board)
    await writers.more(writers.acknowledged)
    await redis.process().end('SIGKILL')
    await writers.more(writers.acknowledged)
    await redis.start()
    const { length } = heard.messages
    await eventually('events are published again', () => heard.messages.length > length)
    await writers.stop()
    expect(writers.rejected).toEqual([])
  })

  test('[RUN-5] [EVENT-4] frozen: no write waits', async () => {
    using heard = await hear(redis.url, channelOf(board.params.board_id))
    redis.process().signal('SIGSTOP')
    await using writers = startWriters(board)
    await writers.more(writers.acknowledged)
    await writers.stop()
    expect(heard.messages).toEqual([])
    expect(writers.rejected).toEqual([])

    redis.process().signal('SIGCONT')
    // Delayed messages may still arrive; new writes are published as before.
    const written = new Set<string>()
    await eventually('an event that is written now', async () => {
      const { headers } = await board.write()
      written.add(`e|${headers.get('board-position')?.replace('.', '|')}|`)
      return heard.messages.some((message) => [...written].some((start) => message.startsWith(start)))
    })
  })
})

describe('starting', () => {
  const migrations = ({ output }: ServiceProcess) => output().match(/"migrated"/g)?.length ?? 0

  test('[RUN-3] of three instances that start at once on an empty database, one migrates and all serve', async () => {
    await database.pool.query('create database empty')
    const services = await Promise.all([1, 2, 3].map(() => startServiceProcess(settings('empty'))))
    expect(services.map(migrations).filter((count) => count > 0)).toHaveLength(1)
    const boards = await Promise.all(services.map(newBoard))
    for (const { write } of boards) expect((await write()).status).toBe(201)
  })

  test('[RUN-3] in development, one of several starting instances creates a missing database', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => ensureDatabase(databaseAt('missing'))))
    expect(made.filter((isNew) => isNew)).toHaveLength(1)
  })

  test('[RUN-3] [UPG-8] with MIGRATE_ON_START=false a missing database is created and not migrated', async () => {
    const starting = startServiceProcess({ ...settings('untouched'), MIGRATE_ON_START: 'false' })
    const untouched = openDatabase('untouched')
    const tables = `select table_name from information_schema.tables where table_schema = 'public'`
    const found = await eventually('the database is there', () =>
      untouched.pool.query(tables).then(
        ({ rows }) => rows,
        () => undefined,
      ),
    )
    await untouched.close()
    expect(found).toEqual([])
    await migrate(databaseAt('untouched'))
    const started = await starting
    expect(migrations(started)).toBe(0)
    expect(started.output()).toContain('created the database')
  })
})

describe('ending', () => {
  test('[RUN-6] SIGTERM ends the process after the request in flight is answered', async () => {
    const ending = await startServiceProcess(settings('lockstep'))
    const api = new Client(ending.baseUrl, board.api.token)
    await using held = await holdBoard(database.pool, board.params.board_id)
    const response = api.send('createCard', { params: board.params, body: { title: 'Under way' } })
    await held.isAwaited()

    ending.signal('SIGTERM')
    await eventually('no new connection is accepted', () =>
      fetch(ending.baseUrl).then(
        () => false,
        () => true,
      ),
    )
    expect(ending.hasEnded()).toBe(false)
    await held.release()

    expect((await response).status).toBe(201)
    expect(await ending.ended).toBe(0)
  })
})
