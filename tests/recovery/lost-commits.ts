import { randomUUID } from 'node:crypto'
import type { Client } from '@lockstep/testing/client'
import { endProcesses, eventually, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { ask, databaseOn, kill, startFirst, startStandby } from './cluster.ts'
import { startNewEpoch } from './new-epoch.ts'
import { openWatchers } from './watchers.ts'
import { checkKept, createCard, newBoard, newUser, type Place, type Write } from './writers.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-failover-tests'

export interface LostCommits {
  acknowledged: number
  /** Acknowledged while the standby heard nothing. */
  unheard: number
  /** How many of all acknowledged writes the checker misses afterwards. */
  noticed: number
  is_told: boolean
  is_wrong_before: boolean
  is_right_after: boolean
  is_fresh: boolean
  is_made_again: boolean
  resync_ms: number
}

/**
 * A failover to an asynchronous standby that is behind, by exactly so many writes. Two clients watch through it all; the
 * service is never restarted. Then other writes take the numbers that were lost, before anybody starts a new epoch.
 */
export async function loseCommits({ writes }: { writes: number }): Promise<LostCommits> {
  try {
    const [primary, redis] = await Promise.all([startFirst('server_1'), startRedis()])
    // The standby follows through a line that can be held up.
    const wire = await startProxy(primary.url)
    const standby = await startStandby('server_2', wire.url)
    const address = await startProxy(databaseOn(primary))
    const settings = { DATABASE_URL: address.url, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' }
    const service = await startServiceProcess(settings)
    const { api, token } = await newUser(service.base_url)
    const place = await newBoard(api)
    const watchers = await openWatchers(service.base_url, token, place.board_id)

    const heard = await writeSome(api, place, writes)
    const [at] = await ask<{ lsn: string }>(primary.url, 'select pg_current_wal_flush_lsn() as lsn')
    await eventually('the standby has it all', async () => {
      const [row] = await ask<{ has: boolean }>(standby.url, 'select pg_last_wal_replay_lsn() >= $1 as has', [at?.lsn])
      return row?.has
    })
    wire.freeze()
    const unheard = await writeSome(api, place, writes)
    const [lost] = unheard as [Write]
    const before = await read(api, place)
    await eventually('the clients see it', () => watchers.areAt(before.position))

    kill(primary)
    await ask(standby.url, 'select pg_promote()')
    address.leadTo(databaseOn(standby))
    const noticed = await checkKept(databaseOn(standby), [...heard, ...unheard])
    // Asks the log for itself, about every two seconds; nothing may be written before, or it would look like progress.
    const said = () => service.output().includes('PostgreSQL has lost commits')
    await eventually('the service notices', said)
    await writeSome(api, place, writes)
    const between = await read(api, place)
    const known = await api.send('getBoard', { params: place, headers: { 'if-none-match': before.etag } })
    // The numbers are the same again, and the board is another: 304 for what the client has not, and what is gone is shown.
    const is_wrong_before = known.status === 304 && watchers.show(lost.title)

    const began = performance.now()
    await startNewEpoch(address.url)
    await eventually('the clients show the board', () => watchers.isRight())
    const resync_ms = Math.round(performance.now() - began)
    const is_right_after = !watchers.show(lost.title)
    const unknown = await Promise.all(
      [before.etag, between.etag].map((etag) =>
        api.send('getBoard', { params: place, headers: { 'if-none-match': etag } }),
      ),
    )
    const gone = await api.send('listEvents', { params: place, query: { after: before.position } })
    const is_fresh = gone.status === 410 && unknown.every(({ status }) => status === 200)

    const retried = await createCard(api, place, lost.title)
    const is_kept = (await checkKept(address.url, [lost])).length === 0
    const is_made_again = retried.status === 201 && is_kept
    await watchers.close()
    wire.thaw()
    await Promise.all([wire.close(), address.close()])
    return {
      ...{ acknowledged: heard.length + unheard.length, unheard: unheard.length, noticed: noticed.length },
      ...{ is_told: said(), is_wrong_before, is_right_after, is_fresh, is_made_again, resync_ms },
    }
  } finally {
    await endProcesses()
  }
}

async function writeSome(api: Client, place: Place, count: number): Promise<Write[]> {
  const titles = Array.from({ length: count }, () => randomUUID())
  for (const title of titles) {
    const { status, text } = await createCard(api, place, title)
    if (status !== 201) throw new Error(text)
  }
  return titles.map((title) => ({ title, board_id: place.board_id }))
}

async function read(api: Client, { board_id }: Place) {
  const { headers } = await api.send('getBoard', { params: { board_id } })
  return { position: headers.get('board-position') ?? '', etag: headers.get('etag') ?? '' }
}
