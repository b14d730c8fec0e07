import { randomUUID } from 'node:crypto'
import type { Client } from '@lockstep/testing/client'
import { endProcesses, eventually, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { databaseOn, kill, query, startPrimary, startStandby } from './cluster.ts'
import { startNewEpoch } from './new-epoch.ts'
import { openWatchers } from './watchers.ts'
import { type ColumnIds, checkKept, createCard, newBoard, newUser, type Write } from './writers.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-failover-tests'

export interface LostCommits {
  acknowledged: number
  /** Acknowledged while replication was interrupted. */
  unreplicated: number
  /** How many acknowledged writes the checker finds missing after the failover. */
  missing: number
  /** The service logged that commits were lost. */
  isReported: boolean
  /** Before the new epoch, clients show lost changes and get 304 for them. */
  isStaleBefore: boolean
  /** After the new epoch, clients show the board of the server. */
  isRepairedAfter: boolean
  /** Old ETags and positions are invalid after the new epoch. */
  isCacheInvalidated: boolean
  /** A lost write that is retried with its key is applied. */
  isRetryApplied: boolean
  resyncMs: number
}

/**
 * Fails over to an asynchronous standby that lacks exactly this many writes. Two live clients stay connected, and the service
 * is not restarted. Before the new epoch starts, other writes reuse the lost numbers.
 */
export async function loseCommits({ writes }: { writes: number }): Promise<LostCommits> {
  try {
    const [primary, redis] = await Promise.all([startPrimary('server_1'), startRedis()])
    // The standby replicates through a proxy that can be frozen.
    const replication = await startProxy(primary.url)
    const standby = await startStandby('server_2', replication.url)
    const address = await startProxy(databaseOn(primary))
    const settings = { DATABASE_URL: address.url, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' }
    const service = await startServiceProcess(settings)
    const { api, token } = await newUser(service.baseUrl)
    const column = await newBoard(api)
    const watchers = await openWatchers(service.baseUrl, token, column.board_id)

    const replicated = await writeSome(api, column, writes)
    const [at] = await query<{ lsn: string }>(primary.url, 'select pg_current_wal_flush_lsn() as lsn')
    await eventually('the standby has caught up', async () => {
      const [row] = await query<{ has: boolean }>(standby.url, 'select pg_last_wal_replay_lsn() >= $1 as has', [
        at?.lsn,
      ])
      return row?.has
    })
    replication.freeze()
    const unreplicated = await writeSome(api, column, writes)
    const [lost] = unreplicated as [Write]
    const before = await read(api, column)
    await eventually('the clients are up to date', () => watchers.areAt(before.position))

    kill(primary)
    await query(standby.url, 'select pg_promote()')
    address.leadTo(databaseOn(standby))
    const missing = await checkKept(databaseOn(standby), [...replicated, ...unreplicated])
    // The hub polls the log about every two seconds. A write before that would hide the lost commits.
    const isReported = () => service.output().includes('PostgreSQL has lost commits')
    await eventually('the service reports lost commits', isReported)
    await writeSome(api, column, writes)
    const between = await read(api, column)
    const known = await api.send('getBoard', { params: column, headers: { 'if-none-match': before.etag } })
    // The position is the same, but the board differs: the client gets 304, and shows a lost card.
    const isStaleBefore = known.status === 304 && watchers.show(lost.title)

    const began = performance.now()
    await startNewEpoch(address.url)
    await eventually('the clients show the board', () => watchers.isRight())
    const resyncMs = Math.round(performance.now() - began)
    const isRepairedAfter = !watchers.show(lost.title)
    const unknown = await Promise.all(
      [before.etag, between.etag].map((etag) =>
        api.send('getBoard', { params: column, headers: { 'if-none-match': etag } }),
      ),
    )
    const gone = await api.send('listEvents', { params: column, query: { after: before.position } })
    const isCacheInvalidated = gone.status === 410 && unknown.every(({ status }) => status === 200)

    const retried = await createCard(api, column, lost.title)
    const isKept = (await checkKept(address.url, [lost])).length === 0
    const isRetryApplied = retried.status === 201 && isKept
    await watchers.close()
    replication.thaw()
    await Promise.all([replication.close(), address.close()])
    return {
      ...{ acknowledged: replicated.length + unreplicated.length, unreplicated: unreplicated.length },
      ...{ missing: missing.length, isReported: isReported(), isStaleBefore, isRepairedAfter },
      ...{ isCacheInvalidated, isRetryApplied, resyncMs },
    }
  } finally {
    await endProcesses()
  }
}

async function writeSome(api: Client, column: ColumnIds, count: number): Promise<Write[]> {
  const titles = Array.from({ length: count }, () => randomUUID())
  for (const title of titles) {
    const { status, text } = await createCard(api, column, title)
    if (status !== 201) throw new Error(text)
  }
  return titles.map((title) => ({ title, board_id: column.board_id }))
}

async function read(api: Client, { board_id }: ColumnIds) {
  const { headers } = await api.send('getBoard', { params: { board_id } })
  return { position: headers.get('board-position') ?? '', etag: headers.get('etag') ?? '' }
}
