import { mkdir } from 'node:fs/promises'
import type { FullBoard } from '@lockstep/contract/boards'
import { Client } from '@lockstep/testing/client'
import { emptyBoard } from '@lockstep/testing/fold'
import { type ServiceProcess, type Store, startPostgres, startServiceProcess } from '@lockstep/testing/processes'
import { OUTPUT } from '@lockstep/testing/template-database'
import pg from 'pg'
import type { Dump, Millis } from './history.ts'
import type { RedisSide } from './redis-sides.ts'

// Secrets of tests hold this word, so that a scan of what the service says can find them.
const PASSWORD = 'hush-hush correct horse of the rig'
const JWT_SECRET = 'hush-hush-signing-secret-of-the-rig-0123456789'

export interface Instance {
  index: number
  process: ServiceProcess
  /** Whether writers and listeners should choose it. One that is about to be drained is taken out first. */
  is_open: boolean
}
export interface RigUser {
  id: string
  token: string
}
export interface RigBoard {
  id: string
  columns: [string, string]
  /** The cards that no write is busy with. */
  cards: { id: string; column: 0 | 1 }[]
  created: FullBoard
}
export interface World {
  postgres: Store
  redis: RedisSide
  sql: pg.Pool
  instances: Instance[]
  owner: RigUser
  viewers: RigUser[]
  guest: RigUser
  boards: RigBoard[]
  /** What processes said that are gone. */
  outputs: string[]
  start: (index: number) => Promise<void>
  api: (user: RigUser) => Client
  close: () => Promise<void>
}

/** Three instances, a database and a Redis of their own, and boards with members. */
export async function buildWorld(redis: RedisSide, board_count: number): Promise<World> {
  await mkdir(OUTPUT, { recursive: true })
  const postgres = await startPostgres()
  await keepCommitTimes(postgres)
  const settings = {
    DATABASE_URL: Object.assign(new URL(postgres.url), { pathname: '/rig' }).href,
    REDIS_URL: redis.url,
    JWT_SECRET,
    DRAIN_SECONDS: '1',
    // On a busy machine writes may be slow; they must not fail for that.
    BOARD_WAIT_MS: '12000',
    LOG_LEVEL: 'warn',
  }
  const startInstance = async (index: number): Promise<Instance> => ({
    index,
    process: await startPatiently(settings),
    is_open: true,
  })
  // The first one makes the database.
  const instances = [await startInstance(0), ...(await Promise.all([1, 2].map(startInstance)))]
  const outputs: string[] = []
  const start = async (index: number) => {
    const old = instances[index] as Instance
    outputs.push(old.process.output())
    instances[index] = await startInstance(index)
  }
  const sql = new pg.Pool({ connectionString: settings.DATABASE_URL, max: 4 })
  sql.on('error', () => {})
  const api = ({ token }: RigUser) => new Client((instances.find((i) => i.is_open) as Instance).process.base_url, token)
  const base_url = (instances[0] as Instance).process.base_url
  const owner = await newUser(base_url, 'owner')
  const viewers = [await newUser(base_url, 'viewer-1'), await newUser(base_url, 'viewer-2')]
  const guest = await newUser(base_url, 'guest')
  const boards: RigBoard[] = []
  for (let i = 0; i < board_count; i++) boards.push(await newBoard(api(owner), [...viewers, guest]))

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

/** A busy machine may take longer than one patience. */
const startPatiently = (settings: Record<string, string>) =>
  startServiceProcess(settings).catch(() => startServiceProcess(settings))

/** The database itself tells when each change was committed: the rig measures from there. */
async function keepCommitTimes(postgres: Store) {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('alter system set track_commit_timestamp = on')
  await client.end()
  await postgres.process().end('SIGINT')
  await postgres.start()
}

export async function newUser(base_url: string, username: string): Promise<RigUser> {
  const anybody = new Client(base_url)
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, token: access_token }
}

async function newBoard(api: Client, members: RigUser[]): Promise<RigBoard> {
  const created = await api.call('createBoard', { body: { title: 'Plan' } })
  const params = { board_id: created.id }
  for (const { id } of members) await api.call('inviteMember', { params, body: { user_id: id } })
  const todo = await api.call('createColumn', { params, body: { title: 'To do' } })
  const done = await api.call('createColumn', { params, body: { title: 'Done' } })
  return { id: created.id, columns: [todo.id, done.id], cards: [], created: emptyBoard(created) }
}

/** The logs of the boards as the database has them. */
export async function dumpLog({ sql, boards }: World, began: Millis = 0): Promise<Dump> {
  const ids = boards.map((board) => board.id)
  const events = await sql.query(
    `select board_id, seq::int, type, subject_id, body,
       extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
     from board_events where board_id = any($1) order by board_id, seq`,
    [ids],
  )
  const streams = await sql.query('select board_id, last_seq::int from board_stream where board_id = any($1)', [ids])
  // What was committed before is no delay of this run.
  const rows = events.rows.map((row) => ({ ...row, committed: Math.max(row.committed, began) }))
  return { events: rows, streams: streams.rows }
}
