import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { Tokens } from '../../../server/src/security/tokens.ts'
import { Client } from '../client.ts'
import { eventually, type ServiceProcess, startServiceProcess } from '../processes.ts'
import { JWT_SECRET } from '../secrets.ts'

export { JWT_SECRET }

const PROBE = new URL('event-loop-probe.ts', import.meta.url).href

/** Measurements of the probe since the last sample. Times in milliseconds, memory in bytes. */
export interface ProbeSample {
  nth: number
  wallP999: number
  wallMax: number
  heldP50: number
  heldP99: number
  heldP999: number
  heldMax: number
  samples: number
  cpuMs: number
  rss: number
  heapUsed: number
  external: number
  arrayBuffers: number
}
export interface ProbedService extends ServiceProcess {
  /** Event-loop times since the last sample, and the current memory. */
  look: () => Promise<ProbeSample>
  /** The same after a garbage collection, which blocks the loop. The remaining memory is what the service retains. */
  weigh: () => Promise<ProbeSample>
}

/** The service in its own process, without the probe, which uses a little CPU time in every millisecond. */
export const startBare = (settings: Record<string, string>) =>
  startServiceProcess({ ...settings, LOG_LEVEL: 'warn', JWT_SECRET })

/** The service in its own process, with a probe of its event loop. */
export async function startProbed(settings: Record<string, string>): Promise<ProbedService> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-probe-'))
  const file = join(folder, 'seen.json')
  const options = [settings['NODE_OPTIONS'], `--import=${PROBE}`].join(' ').trim()
  const probe = { NODE_OPTIONS: options, PROBE_FILE: file, LOG_LEVEL: 'warn', JWT_SECRET }
  const service = await startServiceProcess({ ...settings, ...probe })
  void service.ended.then(() => rm(folder, { recursive: true, force: true }))
  let looks = 0
  const ask = async (signal: NodeJS.Signals) => {
    const nth = ++looks
    service.signal(signal)
    return eventually('the probe answers', async () => {
      const text = await readFile(file, 'utf8').catch(() => 'null')
      const seen = JSON.parse(text) as ProbeSample | null
      return seen !== null && seen.nth >= nth && seen
    })
  }
  return { ...service, look: () => ask('SIGWINCH'), weigh: () => ask('SIGCONT') }
}

/** Memory that the process retains after a garbage collection. */
export async function retainedBytes(service: ProbedService): Promise<number> {
  // The memory of buffers is freed only after the collection that found them.
  await service.weigh()
  const { heapUsed, external } = await service.weigh()
  return heapUsed + external
}

export interface Audience {
  ids: string[]
  tokens: string[]
}
const issuer = new Tokens({ secret: JWT_SECRET, algorithm: 'HS256', lifetimeSeconds: 7_200 })

/** Inserts many users directly, without hashing passwords. */
export async function makeAudience(sql: pg.Pool, count: number): Promise<Audience> {
  const { rows } = await sql.query<{ id: string }>(
    `insert into users (id, email, email_key, username, username_key, hashed_password)
     select gen_random_uuid(), name || '@example.com', name || '@example.com', name, name, ''
     from (select 'viewer-' || substr(gen_random_uuid()::text, 1, 13) || n as name from generate_series(1, $1::int) n) made
     returning id`,
    [count],
  )
  const ids = rows.map((row) => row.id)
  return { ids, tokens: await makeTokens(ids) }
}

/** Access tokens for users, without a login. */
export function makeTokens(userIds: readonly string[]): Promise<string[]> {
  const issuedAt = Math.floor(Date.now() / 1_000) - 1
  return Promise.all(userIds.map((id) => issuer.issue(id, issuedAt)))
}

export const pathOf = (board_id: string, token: string) => `/ws/boards/${board_id}?token=${token}`

/** Creates a board whose members are the audience; the first of them writes on it. */
export async function makeBoard(baseUrl: string, sql: pg.Pool, audience: Audience) {
  const [id, token] = [audience.ids[0] as string, audience.tokens[0] as string]
  const api = new Client(baseUrl, token)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  await sql.query(`insert into board_members (board_id, user_id, role) select $1, unnest($2::uuid[]), 'member'`, [
    board_id,
    audience.ids.filter((other) => other !== id),
  ])
  /** Adds a card; returns the number of its event. */
  const addCard = async (description = '', at = baseUrl) => {
    const response = await fetch(`${at}/boards/${board_id}/columns/${column_id}/cards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Card', description }),
    })
    await response.text()
    if (response.status !== 201) throw new Error(`A card could not be added: ${response.status}`)
    return { seq: Number(response.headers.get('board-position')?.split('.')[1]) }
  }
  return { board_id, addCard, paths: audience.tokens.map((key) => pathOf(board_id, key)) }
}
