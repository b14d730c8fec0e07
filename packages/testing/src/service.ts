import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { BoardMember } from '@lockstep/contract/boards'
import type { Column } from '@lockstep/contract/columns'
import type pg from 'pg'
import { inject } from 'vitest'
import { buildApp } from '../../server/src/app.ts'
import type { HashCost } from '../../server/src/auth/passwords.ts'
import { readConfig } from '../../server/src/config/read-config.ts'
import { createLogger } from '../../server/src/telemetry/logger.ts'
import { Client } from './client.ts'
import { freePort } from './ports.ts'
import { databaseUrl, OUTPUT, onServer, openSql, REDIS } from './template-database.ts'

/** Every secret of a test holds this word, so that a scan of what the service says can find it. */
export const MARK = 'hush-hush'
export const PASSWORD = `${MARK} correct horse`
const SECRET = `${MARK}-signing-secret-of-the-tests-0123456789`

export interface TestUser {
  id: string
  email: string
  username: string
  api: Client
}

export interface TestService {
  base_url: string
  database_url: string
  /** What it says, line by line. */
  logFile: string
  /** The tests' own way to the database, beside the service. */
  sql: pg.Pool
  /** Somebody without a token. */
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

interface Circumstances {
  /** A heartbeat that a test can wait for. */
  seconds?: { heartbeat: number; pong: number }
  /** Another instance on the database of this service, which must be stopped first. */
  beside?: TestService
  /** How long a body may take, and a reader who takes nothing, for a test that cannot wait half a minute. */
  bodySeconds?: number
  stalledSeconds?: number
  /** For a test of the hashes themselves: all others use a cheap one. */
  hashCost?: HashCost
}

/** Starts the real service, on a database of its own unless told otherwise. Settings are given as in the environment. */
export async function startService(
  settings: Record<string, string> = {},
  { beside, hashCost = CHEAP_HASH, ...options }: Circumstances = {},
): Promise<TestService> {
  const name = `lockstep_test_${randomBytes(6).toString('hex')}`
  if (!beside) await onServer((client) => client.query(`create database ${name} template ${inject('template')}`))
  const database_url = beside?.database_url ?? databaseUrl(name)
  const config = readConfig({
    DATABASE_URL: database_url,
    REDIS_URL: REDIS,
    JWT_SECRET: SECRET,
    // All tests register from one address.
    MAX_REGISTRATIONS_PER_HOUR: '100000',
    LOG_LEVEL: 'trace',
    CORS_ORIGINS: '',
    ...settings,
  })
  const logFile = fileURLToPath(new URL(`log-${name}.jsonl`, OUTPUT))
  const log = createLogger({ level: config.log.level, file: logFile })
  const app = await buildApp(config, log, { ...options, hashCost })
  const base_url = await listen(app)
  const sql = openSql(database_url)
  const anybody = new Client(base_url)

  const user = async (username = `user-${randomBytes(5).toString('hex')}`): Promise<TestUser> => {
    const email = `${username}@example.com`
    const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
    const { access_token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
    return { id, email, username, api: new Client(base_url, access_token) }
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
    await sql.end()
    if (!beside) await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
  return { base_url, database_url, logFile, sql, anybody, user, board, stop }
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
