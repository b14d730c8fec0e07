import { randomUUID } from 'node:crypto'
import { Client } from '@lockstep/testing/client'
import {
  endProcesses,
  eventually,
  type PostgresStore,
  type ServiceProcess,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { startService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { NotDurable, requireDurability } from '../packages/server/src/database/durability-check.ts'
import { failOverSynchronously } from './prove/operate-failover.ts'
import { drill } from './prove/operate-restore.ts'
import { databaseOn, query, startPrimary, startStandby } from './recovery/cluster.ts'
import { loseCommits } from './recovery/lost-commits.ts'
import { startNewEpoch } from './recovery/new-epoch.ts'
import { complaintsAbout, failOverByPatroni, TTL_MS } from './recovery/patroni-failover.ts'
import { newBoard, newUser } from './recovery/writers.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-recovery-tests'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })
afterAll(endProcesses)

describe('failover', () => {
  test('[REC-1] [REC-2] to a synchronous standby under load loses no acknowledged write, and the old primary acknowledges no more', async () => {
    const outcomes = await failOverSynchronously({ kills: 1, freezes: 1, writers: 4, changes: 10 }, console.log)
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    expect(outcomes.map(({ kind, split }) => [kind, split])).toEqual([
      ['killed', 0],
      ['frozen', 0],
    ])
    for (const { acknowledged, refusals } of outcomes) {
      expect(acknowledged).toBeGreaterThan(20)
      expect(refusals).toBeGreaterThan(0)
    }
  })

  test('[REC-3] [REC-4] to a standby that was behind loses writes, the service reports it, and a new epoch repairs every client', async () => {
    const { unreplicated, missing, resyncMs, acknowledged, ...rest } = await loseCommits({ writes: 10 })
    console.log(
      `${unreplicated} of ${acknowledged} acknowledged writes lost; clients repaired ${resyncMs} ms after new-epoch`,
    )
    // The checker of the test above finds exactly these.
    expect(missing).toBe(unreplicated)
    expect(rest).toEqual({
      isReported: true,
      isStaleBefore: true,
      isRepairedAfter: true,
      isCacheInvalidated: true,
      isRetryApplied: true,
    })
  })
})

test('[REC-9] Patroni replaces a killed primary by itself: no write is lost, and no socket notices', async () => {
  const [outcome] = await failOverByPatroni({ kills: 1, writers: 4, sockets: 6 }, console.log)
  expect(outcome?.violations).toEqual([])
  expect(outcome?.acknowledged).toBeGreaterThan(20)
  expect(outcome?.refusals).toBeGreaterThan(0)
  expect(outcome?.events).toBeGreaterThan(20)
  // Other tests share the machine. On a quiet one it is at most `ttl` + 5 s: `npm run prove -- operate-failover`.
  expect(outcome?.recoveryMs).toBeLessThan(2 * TTL_MS)
})

test('[REC-9] a socket with a gap, a repeat, a reload or a close is found', () => {
  const hello = { type: 'hello', seq: 4 }
  const socket = { messages: [hello], seqs: [5, 6, 7], closing: undefined }
  expect(complaintsAbout(socket, 7)).toEqual([])
  for (const seqs of [[5, 7], [5, 6, 6, 7], [6, 5, 7], [5, 6], []])
    expect(complaintsAbout({ ...socket, seqs }, 7)).toEqual([`a socket got ${seqs.length} of the events 5 to 7`])
  expect(complaintsAbout({ ...socket, messages: [hello, { type: 'resync' }] }, 7)).toHaveLength(1)
  expect(complaintsAbout({ ...socket, closing: { code: 1006, reason: '', at: 0 } }, 7)).toHaveLength(1)
})

test('[REC-6] a backup of a running service is restored to a moment between two writes, and clients that saw later writes reload', async () => {
  const size = { boards: 0, cards: 0, writers: 4, archive_timeout: 1, isJudged: false }
  const { violations, lost, acknowledged, rpoMs, rtoMs } = await drill(size)
  console.log(
    `RTO ${rtoMs} ms; RPO ${rpoMs} ms: ${lost} of ${acknowledged} acknowledged writes were not in the archive`,
  )
  expect(violations).toEqual([])
})

describe('the service', () => {
  let primary: PostgresStore
  let service: ServiceProcess
  beforeAll(async () => {
    primary = await startPrimary('server_1')
    service = await startServiceProcess(settings(primary))
  })
  const settings = (store: PostgresStore) => ({ DATABASE_URL: databaseOn(store), REDIS_URL: '', JWT_SECRET })

  test('[REC-5] returns 503 for every request while its database is a standby, until it is promoted', async () => {
    const { api } = await newUser(service.baseUrl)
    const { board_id } = await newBoard(api)
    const standby = await startStandby('server_2', primary.url)
    const misdirected = await startServiceProcess({ ...settings(standby), MIGRATE_ON_START: 'false' })
    const client = new Client(misdirected.baseUrl, api.token)
    const codes = async () => {
      const reads = [client.send('getBoard', { params: { board_id } }), client.send('getHealth', {})]
      const write = client.send('updateBoard', { params: { board_id }, body: { title: 'Next' } })
      return (await Promise.all([...reads, write])).map(({ status }) => status)
    }
    expect(await codes()).toEqual([503, 503, 503])
    await query(standby.url, 'select pg_promote()')
    expect(await codes()).toEqual([200, 200, 200])
  })

  test('[REC-5] returns 503 while its database is read-only, and closes the connection', async () => {
    const { api } = await newUser(service.baseUrl)
    const { board_id } = await newBoard(api)
    const write = () => api.send('updateBoard', { params: { board_id }, body: { title: randomUUID() } })
    const readOnly = async (value: string) => {
      await query(primary.url, `alter system set default_transaction_read_only = ${value}`)
      await query(primary.url, 'select pg_reload_conf()')
    }
    const connections = async () =>
      (await query<{ pid: number }>(primary.url, `select pid from pg_stat_activity where datname = 'lockstep'`)).map(
        ({ pid }) => pid,
      )
    const before = await connections()
    await readOnly('on')
    await eventually('a write is rejected', async () => {
      const { status } = await write()
      expect([200, 503]).toContain(status)
      return status === 503
    })
    await eventually('a connection is closed', async () => {
      const now = await connections()
      return before.some((pid) => !now.includes(pid))
    })
    await readOnly('off')
    await eventually('writes succeed again', async () => (await write()).status === 200)
  })

  test('[REC-7] does not start in production with a database that may lose acknowledged writes, and names the setting', async () => {
    const withCommit = (value: string) => `${databaseOn(primary)}?options=-c%20synchronous_commit%3D${value}`
    const production = { ...settings(primary), ENVIRONMENT: 'production', DATABASE_URL: withCommit('off') }
    const message = 'synchronous_commit is off for the user of DATABASE_URL'
    await expect(startServiceProcess(production)).rejects.toThrow(message)

    const warnings: string[] = []
    const log = { warn: (message: string) => void warnings.push(message) }
    const check = (value: string) => requireDurability(withCommit(value), log)
    for (const value of ['off', 'local']) await expect(check(value)).rejects.toThrow(NotDurable)
    // The test servers run without fsync, which only logs a warning.
    for (const value of ['remote_write', 'on', 'remote_apply']) await check(value)
    expect(new Set(warnings).size).toBe(1)
    expect(warnings[0]).toContain('fsync off')
  })
})

test('[REC-8] a board created after a new epoch starts in that epoch', async () => {
  const service = await startService()
  const before = await service.board()
  const output = await startNewEpoch(service.databaseUrl)
  const after = await service.board()
  const epochs = await service.sql.query<{ epoch: number }>('select distinct epoch from board_stream')
  await service.stop()
  expect(output).toBe('1 boards begin a new epoch')
  expect(before.id).not.toBe(after.id)
  expect(epochs.rows).toHaveLength(1)
  expect(epochs.rows[0]?.epoch).toBeGreaterThan(1)
})
