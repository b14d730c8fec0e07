import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { BoardMember } from '@lockstep/contract/boards'
import type { Column } from '@lockstep/contract/columns'
import type pg from 'pg'
import { buildApp } from '../../server/src/app.ts'
import type { HashCost } from '../../server/src/auth/passwords.ts'
import { readConfig } from '../../server/src/config/read-config.ts'
import { createLogger } from '../../server/src/telemetry/logger.ts'
import { newAccount } from './accounts.ts'
import { Client } from './client.ts'
import { freePort } from './ports.ts'
import { JWT_SECRET } from './secrets.ts'
import { OUTPUT, openSql, REDIS } from './template-database.ts'
import type { TestClock } from './test-clock.ts'
import { createTestDatabase } from './test-database.ts'
import { WEBHOOK_SETTINGS } from './webhook-receiver.ts'

export { MARK, PASSWORD } from './secrets.ts'

export interface TestUser {
  id: string
  email: string
  username: string
  api: Client
}

export interface TestService {
  baseUrl: string
  databaseUrl: string
  /** The file with its log. */
  logFile: string
  /** Connections of the test to the database. */
  sql: pg.Pool
  /** A client without a token. */
  anybody: Client
  /** Registers and logs in a new user. */
  user: (name?: string) => Promise<TestUser>
  /** A board with an owner, a member and two columns. */
  board: () => Promise<TestBoard>
  stop: () => Promise<void>
}

export interface TestBoard {
  id: string
  owner: TestUser
  member: TestUser
  columns: [Column, Column]
  /** The board's log, in order. */
  events: () => Promise<
    { seq: number; type: string; user_id: string | null; data: Record<string, unknown>; subject_id: string | null }[]
  >
}

const CHEAP_HASH: HashCost = { memoryCost: 1_024, timeCost: 1, parallelism: 1 }

interface ServiceOptions {
  /** A clock that the test advances. */
  clock?: TestClock
  /** Starts another instance on the database of this service. Stop the new one first. */
  beside?: TestService
  /** A timeout for stalled readers, for tests that cannot wait half a minute. */
  stalledSeconds?: number
  /** For tests of hashing itself. All others use a cheap hash. */
  hashCost?: HashCost
}

/** Starts the real service in this process, on its own database by default. Settings are environment variables. */
export async function startService(
  settings: Record<string, string> = {},
  { beside, hashCost = CHEAP_HASH, ...options }: ServiceOptions = {},
): Promise<TestService> {
  const own = beside ? undefined : await createTestDatabase()
  const databaseUrl = beside?.databaseUrl ?? (own?.url as string)
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    REDIS_URL: REDIS,
    JWT_SECRET,
    ...WEBHOOK_SETTINGS,
    // Tests of webhooks turn it on. Elsewhere, attempts would change rows that tests compare.
    WEBHOOK_WORKERS: '0',
    // All tests register from one address.
    MAX_REGISTRATIONS_PER_HOUR: '100000',
    LOG_LEVEL: 'trace',
    CORS_ORIGINS: '',
    ...settings,
  })
  const logFile = fileURLToPath(new URL(`log-${randomBytes(6).toString('hex')}.jsonl`, OUTPUT))
  const log = createLogger({ level: config.log.level, file: logFile })
  const app = await buildApp(config, log, { ...options, hashCost })
  const baseUrl = await listen(app)
  const sql = own?.sql ?? openSql(databaseUrl)
  const anybody = new Client(baseUrl)

  const user = async (name?: string): Promise<TestUser> => {
    const { token, ...account } = await newAccount(baseUrl, name)
    return { ...account, api: new Client(baseUrl, token) }
  }

  const board = async (): Promise<TestBoard> => {
    const [owner, member] = await Promise.all([user(), user()])
    const { id } = await owner.api.call('createBoard', { body: { title: 'Plan' } })
    const params = { board_id: id }
    await owner.api.call('inviteMember', { params, body: { user_id: member.id } })
    const todo = await owner.api.call('createColumn', { params, body: { title: 'To do' } })
    const done = await owner.api.call('createColumn', { params, body: { title: 'Done', is_done_column: true } })
    const events = async () => {
      const { rows } = await sql.query(
        'select seq::int, type, subject_id, body from board_events where board_id = $1 order by seq',
        [id],
      )
      return rows.map(({ body, ...row }) => {
        const { data, user_id } = JSON.parse(body)
        return { ...row, user_id, data }
      })
    }
    return { id, owner, member, columns: [todo, done], events }
  }

  const stop = async () => {
    await app.close()
    if (own) await own.drop()
    else await sql.end()
  }
  return { baseUrl, databaseUrl, logFile, sql, anybody, user, board, stop }
}

async function listen(app: Awaited<ReturnType<typeof buildApp>>): Promise<string> {
  for (;;) {
    try {
      return await app.listen({ host: '127.0.0.1', port: await freePort() })
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    }
  }
}

/** The members of a board by role, for tests that count owners. */
export const owners = (members: BoardMember[]) => members.filter((m) => m.role === 'owner').map((m) => m.user_id)
