import { freePort } from '@lockstep/testing/ports'
import { MARK, startService, type TestService } from '@lockstep/testing/service'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { POSTGRES, REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

const health = async (at: TestService) => {
  const { status, body } = await at.anybody.send('getHealth', {})
  return { http: status, ...(body as Record<string, unknown>) }
}
const fine = { http: 200, status: 'ok', database: 'connected', redis: 'connected' }
const degraded = { ...fine, status: 'degraded', redis: 'disconnected' }
const failing = { ...fine, http: 503, status: 'error', database: 'disconnected' }

describe('reachable and unreachable stores', () => {
  const shown = async (settings: Record<string, string>, expected: object) => {
    const at = await startService(settings)
    try {
      await expect.poll(() => health(at), { timeout: 5_000 }).toEqual(expected)
    } finally {
      await at.stop()
    }
  }
  const nowhere = async (scheme: string) => `${scheme}://127.0.0.1:${await freePort()}`

  test('[HEALTH-1] with both stores it is ok, for everyone', () => shown({}, fine))

  test('[HEALTH-1] without Redis it is degraded', async () => shown({ REDIS_URL: await nowhere('redis') }, degraded))

  test('[HEALTH-1] if Redis is not configured it is disabled', () =>
    shown({ REDIS_URL: '' }, { ...fine, redis: 'disabled' }))

  test('[SHIP-14] without the database the instance is alive, but not ready', async () => {
    const at = await startService({ DATABASE_URL: `${await nowhere('postgres')}/lost` })
    const { status, code } = await at.anybody.fail('getReadiness', {})
    expect([status, code]).toEqual([503, 'unavailable'])
    expect(await at.anybody.call('getLiveness', {})).toEqual({ status: 'alive' })
    await at.stop()
  })

  test('[SHIP-14] without Redis the instance is ready', async () => {
    const at = await startService({ REDIS_URL: await nowhere('redis') })
    expect(await at.anybody.call('getReadiness', {})).toEqual({ status: 'ready' })
    await at.stop()
  })

  test('[HEALTH-1] without the database it is 503 with a detail', async () =>
    shown(
      { DATABASE_URL: `${await nowhere('postgres')}/lost` },
      { ...failing, detail: expect.any(String), code: expect.any(String) },
    ))
})

describe('stores that hang', () => {
  let database: TcpProxy
  let redis: TcpProxy
  let service: TestService
  beforeAll(async () => {
    ;[database, redis] = await Promise.all([startProxy(POSTGRES), startProxy(REDIS)])
    service = await startService({ DATABASE_URL: database.url, REDIS_URL: redis.url })
  })
  afterAll(async () => {
    await Promise.all([database.close(), redis.close()])
    await service.stop()
  })
  beforeEach(async () => {
    database.thaw()
    redis.thaw()
    await expect.poll(() => health(service), { timeout: 10_000 }).toEqual(fine)
  })

  /** The response, if it comes within a second, or ten on a slow machine. */
  const withinASecond = async (at = service) => {
    const start = performance.now()
    const response = await health(at)
    expect(performance.now() - start).toBeLessThan(10_000)
    return response
  }

  test('[HEALTH-2] it responds within a second when Redis hangs', async () => {
    redis.freeze()
    expect(await withinASecond()).toEqual(degraded)
  })

  test('[HEALTH-2] it responds within a second when the database hangs', async () => {
    database.freeze()
    expect(await withinASecond()).toMatchObject(failing)
  })

  test('[HEALTH-2] it responds within a second when both hang', async () => {
    database.freeze()
    redis.freeze()
    expect(await withinASecond()).toMatchObject({ ...failing, redis: 'disconnected' })
  })

  test('[HEALTH-2] it responds within a second when they hang from the start', async () => {
    const stores = await Promise.all([startProxy(POSTGRES), startProxy(REDIS)])
    for (const store of stores) store.freeze()
    const hung = await startService({ DATABASE_URL: stores[0].url, REDIS_URL: stores[1].url })
    try {
      expect(await withinASecond(hung)).toMatchObject({ ...failing, redis: 'disconnected' })
    } finally {
      await Promise.all(stores.map((store) => store.close()))
      await hung.stop()
    }
  })
})

test('[HEALTH-3] while the disk of the database is full, writes are rejected and the health check says so', async () => {
  const at = await startService({ METRICS_TOKEN: MARK })
  const user = await at.user()
  const create = () => user.api.send('createBoard', { body: { title: 'Plan' } })
  // The error that PostgreSQL raises when it cannot extend a file.
  await at.sql.query(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
  await at.sql.query('create trigger refuse before insert on boards for each row execute function refuse()')
  const connections = async () => {
    const all = `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`
    return (await at.sql.query<{ pid: number }>(all)).rows.map(({ pid }) => pid)
  }
  const before = await connections()
  const { status, body } = await create()
  expect([status, (body as { code: string }).code]).toEqual([503, 'storage_full'])
  expect(await health(at)).toEqual({ ...fine, status: 'degraded', writes: 'refused' })
  // An alert depends on this metric.
  const metrics = await at.anybody.request('GET', '/metrics', { headers: { authorization: `Bearer ${MARK}` } })
  expect(metrics.text).toMatch(/^lockstep_database_errors_total\{.*kind="storage_full".*\} 1$/m)
  expect((await at.anybody.send('getReadiness', {})).status).toBe(200)
  expect((await user.api.send('listBoards', {})).status).toBe(200)
  // The connection is kept, because a new one would not help.
  expect(await connections()).toEqual(expect.arrayContaining(before))
  await at.sql.query('drop trigger refuse on boards')
  expect((await create()).status).toBe(201)
  expect(await health(at)).toEqual(fine)
  await at.stop()
})
