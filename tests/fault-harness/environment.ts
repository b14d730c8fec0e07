import type { FullBoard } from '@lockstep/contract/boards'
import { type Account, newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { databaseAt, instanceSettings } from '@lockstep/testing/environment'
import { emptyBoard } from '@lockstep/testing/fold'
import { type ServiceProcess, type Store, startPostgres, startServiceProcess } from '@lockstep/testing/processes'
import { openSql } from '@lockstep/testing/template-database'
import type pg from 'pg'
import type { Dump, Millis } from './history.ts'
import type { RedisSetup } from './redis.ts'

export interface Instance {
  index: number
  process: ServiceProcess
  /** Whether the load balancer would use it. An instance is removed before it is drained. */
  isInRotation: boolean
}
export interface HarnessBoard {
  id: string
  columns: [string, string]
  /** The cards without a pending write, and those of them that were archived or deleted. */
  cards: { id: string; column: 0 | 1 }[]
  removed: { id: string; column: 0 | 1 }[]
  created: FullBoard
}
export interface FaultEnvironment {
  postgres: Store
  redis: RedisSetup
  sql: pg.Pool
  instances: Instance[]
  owner: Account
  viewers: Account[]
  guest: Account
  boards: HarnessBoard[]
  /** The output of processes that have ended. */
  outputs: string[]
  start: (index: number) => Promise<void>
  api: (user: Account) => Client
  close: () => Promise<void>
}

/** Three instances with their own PostgreSQL and Redis, and boards with members. */
export async function startFaultEnvironment(redis: RedisSetup, boardCount: number): Promise<FaultEnvironment> {
  // PostgreSQL records the time of each commit: delays are measured from there.
  const postgres = await startPostgres({ settings: ['track_commit_timestamp=on'] })
  const settings = {
    ...instanceSettings(databaseAt(postgres.url, 'lockstep'), redis.url),
    DRAIN_SECONDS: '1',
    // On a busy machine writes may be slow, but must not fail because of that.
    BOARD_WAIT_MS: '12000',
  }
  const startInstance = async (index: number): Promise<Instance> => ({
    index,
    process: await startWithRetry(settings),
    isInRotation: true,
  })
  // The first one creates the database.
  const instances = [await startInstance(0), ...(await Promise.all([1, 2].map(startInstance)))]
  const outputs: string[] = []
  const start = async (index: number) => {
    const old = instances[index] as Instance
    outputs.push(old.process.output())
    instances[index] = await startInstance(index)
  }
  const sql = openSql(settings.DATABASE_URL)
  const api = ({ token }: Account) =>
    new Client((instances.find((i) => i.isInRotation) as Instance).process.baseUrl, token)
  const baseUrl = (instances[0] as Instance).process.baseUrl
  const owner = await newAccount(baseUrl, 'owner')
  const viewers = [await newAccount(baseUrl, 'viewer-1'), await newAccount(baseUrl, 'viewer-2')]
  const guest = await newAccount(baseUrl, 'guest')
  const boards: HarnessBoard[] = []
  for (let i = 0; i < boardCount; i++) boards.push(await newBoard(api(owner), [...viewers, guest]))

  const close = async () => {
    await Promise.all(
      instances.map(async (instance) => {
        instance.process.signal('SIGCONT')
        if (!instance.process.hasEnded()) await instance.process.end('SIGKILL')
      }),
    )
    await sql.end()
    if (!postgres.process().hasEnded()) await postgres.process().end('SIGQUIT')
    await redis.close()
  }
  return { postgres, redis, sql, instances, owner, viewers, guest, boards, outputs, start, api, close }
}

/** Retries once: a busy machine may exceed the start timeout. */
const startWithRetry = (settings: Record<string, string>) =>
  startServiceProcess(settings).catch(() => startServiceProcess(settings))

async function newBoard(api: Client, members: Account[]): Promise<HarnessBoard> {
  const created = await api.call('createBoard', { body: { title: 'Plan' } })
  const params = { board_id: created.id }
  for (const { id } of members) await api.call('inviteMember', { params, body: { user_id: id } })
  const todo = await api.call('createColumn', { params, body: { title: 'To do' } })
  const done = await api.call('createColumn', { params, body: { title: 'Done' } })
  return { id: created.id, columns: [todo.id, done.id], cards: [], removed: [], created: emptyBoard(created) }
}

/** The logs and the cards of the boards in the database. */
export async function dumpLog(
  { sql, boards }: { sql: pg.Pool; boards: readonly { id: string }[] },
  began: Millis = 0,
): Promise<Dump> {
  const ids = boards.map((board) => board.id)
  const events = await sql.query(
    `select board_id, seq::int, type, subject_id, body,
       extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
     from board_events where board_id = any($1) order by board_id, seq`,
    [ids],
  )
  const streams = await sql.query('select board_id, last_seq::int from board_stream where board_id = any($1)', [ids])
  const cards = await sql.query(
    `select card.id, case when card.column_id is not null and removal.id is null then 'on the board'
       when card.column_id is null and removal.id is not null then removal.removed_as else 'lost' end as state
     from cards card left join removals removal on removal.board_id = card.board_id and removal.card_id = card.id
     where card.board_id = any($1)`,
    [ids],
  )
  // Events from before the run do not count as delayed.
  const rows = events.rows.map((row) => ({ ...row, committed: Math.max(row.committed, began) }))
  return { events: rows, streams: streams.rows, cards: cards.rows }
}
