import pg from 'pg'
import { addressOf, connectionConfig, PLANNER_SETTINGS, SESSION_TIMEOUTS, sessionConfig } from './connection.ts'

/** A pooler in front of PostgreSQL that the service cannot work with. The message says what to change. */
export class UnfitPooler extends Error {}

const DOCUMENTED = '(docs/deploying.md#pgbouncer)'
const ROUNDS = 5
/** A statement that is missing, or exists already: another client used the session in between. */
const lostStatement = ['26000', '42P05']

/**
 * Throws if a pooler takes away what the service relies on: prepared statements that outlive a transaction, transactions, and
 * the timeouts of a session. A direct connection and a pooler in session mode pass. Returns a warning for each setting without
 * which the service is slow, but correct.
 */
export async function requireFitPooler(url: string): Promise<string[]> {
  return withTwoClients(sessionConfig(url), async (clients) => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, client] of clients.entries()) {
        // The same name for different statements: a session that both clients used would run the wrong one.
        const { rows } = await client.query<{ nth: number }>({ name: 'pooler_check', text: `select ${i} as nth` })
        if (rows[0]?.nth !== i) throw Object.assign(new Error('A statement of another client ran'), { code: '26000' })
      }
    }
    const slow = []
    for (const client of clients) slow.push(...(await checkSettings(client, url)))
    return [...new Set(slow)]
  }).catch((error: unknown) => {
    throw sentenceOf(error as pg.DatabaseError, url)
  })
}

/** Throws if clients share sessions. A lock that belongs to a session would protect nothing. */
export async function requireOwnSession(url: string): Promise<void> {
  await withTwoClients({ ...connectionConfig(url), application_name: 'lockstep migrate' }, async (clients) => {
    const sessions = clients.map(() => new Set<number>())
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, client] of clients.entries()) {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
        for (const { pid } of rows) sessions[i]?.add(pid)
      }
    }
    const distinct = new Set(sessions.flatMap((pids) => [...pids]))
    if (distinct.size === clients.length && sessions.every(({ size }) => size === 1)) return
    throw new UnfitPooler(
      `DATABASE_URL leads to a pooler at ${addressOf(url)}, and migrations need a session of their own: run npm run migrate with the address of PostgreSQL itself ${DOCUMENTED}.`,
    )
  })
}

async function withTwoClients<T>(config: pg.ClientConfig, work: (clients: pg.Client[]) => Promise<T>): Promise<T> {
  const clients = [0, 1].map(() => new pg.Client({ connectionTimeoutMillis: 5_000, query_timeout: 10_000, ...config }))
  try {
    for (const client of clients) {
      // A lost connection fails the running statement, which reports it.
      client.on('error', () => {})
      await client.connect()
    }
    return await work(clients)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/** In a transaction, because a pooler in statement mode has none. */
async function checkSettings(client: pg.Client, url: string): Promise<string[]> {
  const sent = { ...SESSION_TIMEOUTS, ...PLANNER_SETTINGS }
  await client.query('begin')
  const { rows } = await client.query<{ name: keyof typeof sent; value: string; role: string }>(
    'select name, setting as value, quote_ident(current_user) as role from pg_settings where name = any ($1)',
    [Object.keys(sent)],
  )
  await client.query('commit')
  const slow = []
  for (const { name, value, role } of rows) {
    const needed = String(sent[name])
    if (value === needed) continue
    const remedy = `run alter role ${role} set ${name} = ${needed}`
    if (name in SESSION_TIMEOUTS)
      throw new UnfitPooler(
        `The pooler at ${addressOf(url)} drops ${name}, which is ${value} ms instead of ${needed} ms: ${remedy}, and then RECONNECT in the pooler ${DOCUMENTED}.`,
      )
    slow.push(
      `PostgreSQL at ${addressOf(url)} runs with ${name} = ${value} instead of ${needed}, which makes some requests slow: take it out of the options in DATABASE_URL, or behind a pooler ${remedy}, and then RECONNECT in the pooler ${DOCUMENTED}.`,
    )
  }
  return slow
}

function sentenceOf(error: pg.DatabaseError, url: string): Error {
  const { code = '', message } = error
  const pooler = `The pooler at ${addressOf(url)}`
  if (message.includes('unsupported startup parameter'))
    return new UnfitPooler(
      `${pooler} rejects the settings of the service (${message}): let it ignore them (ignore_startup_parameters = ${[...Object.keys(SESSION_TIMEOUTS), 'options'].join(', ')}), and set them for the role ${DOCUMENTED}.`,
    )
  if (message.includes('statement pooling mode'))
    return new UnfitPooler(`${pooler} has no transactions (${message}): set pool_mode = transaction ${DOCUMENTED}.`)
  if (lostStatement.includes(code))
    return new UnfitPooler(
      `${pooler} loses prepared statements (${message}): use pgbouncer 1.21 or newer with max_prepared_statements above 0 ${DOCUMENTED}.`,
    )
  return error
}
