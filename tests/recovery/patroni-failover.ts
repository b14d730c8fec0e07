import assert from 'node:assert/strict'
import { startPgbouncer } from '@lockstep/testing/pgbouncer'
import { startAdmin, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { openSocket, type TestSocket } from '@lockstep/testing/socket'
import { SESSION_TIMEOUTS } from '../../packages/server/src/database/connection.ts'
import { query } from './cluster.ts'
import { type PatroniCluster, startPatroniCluster } from './patroni.ts'
import { type ColumnIds, checkKept, checkLogs, newBoard, newUser, startWriters } from './writers.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-failover-tests'
/** Responses of the old primary that were on their way. A lease never ends this early. */
const ON_THEIR_WAY_MS = 1_000

/** `ttl` in deploy/patroni/patroni.yml. */
export const TTL_MS = 10_000

export interface PatroniSize {
  kills: number
  writers: number
  sockets: number
  /** Whether pgbouncer is between the service and HAProxy. */
  isPooled?: boolean
}
export interface PatroniFailover {
  violations: string[]
  acknowledged: number
  refusals: number
  /** Events that sockets received. */
  events: number
  /** Time from the kill to the next acknowledged write: detection, promotion and reconnection. */
  recoveryMs: number
}

/** Kills the primary and its Patroni repeatedly, under load. Nobody but Patroni and HAProxy reacts. */
export async function failOverByPatroni(size: PatroniSize, progress: (line: string) => void) {
  const redis = await startRedis()
  const cluster = await startPatroniCluster()
  try {
    await query(cluster.url.replace(/\w+$/, 'postgres'), 'create database lockstep')
    const DATABASE_URL = size.isPooled ? await poolTo(cluster.url) : cluster.url
    const settings = { DATABASE_URL, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' }
    const service = await startServiceProcess(settings)
    const outcomes: PatroniFailover[] = []
    while (outcomes.length < size.kills) {
      const outcome = await failOverOnce(cluster, service.baseUrl, size)
      outcomes.push(outcome)
      progress(
        `Patroni${size.isPooled ? ' and pgbouncer' : ''}, kill ${outcomes.length} of ${size.kills}: ${outcome.acknowledged} acknowledged, writes again after ${outcome.recoveryMs} ms, ${outcome.violations.length} violations`,
      )
    }
    await service.end()
    return outcomes
  } finally {
    await cluster.stop()
  }
}

/** Prepares the database for pgbouncer, and starts it. */
async function poolTo(target: string): Promise<string> {
  const migration = startAdmin(['migrate'], { DATABASE_URL: target })
  assert.equal(await migration.ended, 0, migration.output())
  for (const [name, ms] of Object.entries(SESSION_TIMEOUTS))
    await query(target, `alter role postgres set ${name} = ${ms}`)
  return (await startPgbouncer({ target })).url
}

async function failOverOnce(cluster: PatroniCluster, baseUrl: string, size: PatroniSize): Promise<PatroniFailover> {
  const { api } = await newUser(baseUrl)
  const boards = await Promise.all(Array.from({ length: 4 }, () => newBoard(api)))
  const sockets = Array.from({ length: size.sockets }, (_, i) => {
    const { board_id } = boards[i % boards.length] as ColumnIds
    return { board_id, socket: openSocket(api, board_id, { seq: true }) }
  })
  await Promise.all(sockets.map(({ socket }) => socket.next('hello')))
  const writers = startWriters(api, boards, size.writers)
  await writers.more(5 * size.writers)
  const { member, at } = await cluster.killPrimary()
  await writers.more(5 * size.writers)
  await cluster.revive(member)
  await writers.more(size.writers)
  await writers.stop()

  const acknowledged = writers.acknowledged()
  const violations = [
    ...(await checkKept(cluster.url, acknowledged)),
    ...(await checkLogs(cluster.url)),
    ...(await checkSockets(cluster.url, sockets)),
    ...writers.strange.map((response) => `a write was answered ${response}`),
  ]
  const events = sockets.reduce((sum, { socket }) => sum + socket.events.length, 0)
  for (const { socket } of sockets) socket.terminate()
  const recoveryMs = Math.round(writers.firstAfter(at + ON_THEIR_WAY_MS, at))
  return { violations, acknowledged: acknowledged.length, refusals: writers.refusals(), events, recoveryMs }
}

/** Finds sockets that were closed, had to reload, or did not get every event once and in order. */
async function checkSockets(url: string, sockets: { board_id: string; socket: TestSocket }[]): Promise<string[]> {
  const heads = await query<{ board_id: string; last_seq: string }>(url, 'select board_id, last_seq from board_stream')
  const complaints = sockets.map(async ({ board_id, socket }) => {
    const last = Number(heads.find((head) => head.board_id === board_id)?.last_seq)
    await socket.upTo(last).catch(() => {})
    return complaintsAbout(socket, last)
  })
  return (await Promise.all(complaints)).flat()
}

export function complaintsAbout(
  { messages, seqs, closing }: Pick<TestSocket, 'messages' | 'seqs' | 'closing'>,
  last: number,
): string[] {
  const first = Number(messages.find(({ type }) => type === 'hello')?.seq) + 1
  const expected = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return [
    ...(closing ? [`a socket was closed with ${closing.code}`] : []),
    ...(messages.some(({ type }) => type === 'resync') ? ['a socket had to reload its board'] : []),
    ...(seqs.join() === expected.join() ? [] : [`a socket got ${seqs.length} of the events ${first} to ${last}`]),
  ]
}
