import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { openApi } from '@lockstep/contract/openapi'
import { type Scrape, scrape } from '@lockstep/testing/metrics'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, eventually, holdBoard, startRedis } from '@lockstep/testing/processes'
import { MARK, PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '../app.ts'
import { BadSetting, readConfig } from '../config/read-config.ts'
import { REVISION, VERSION } from '../platform/version.ts'
import { createLogger } from './logger.ts'

const TOKEN = `${MARK}-metrics-token`
let service: TestService
const look = () => scrape(service.baseUrl, TOKEN)
/** Requests are counted when their response ends, shortly after the client has received it. */
const seen = (what: string, isThere: (now: Scrape) => boolean) =>
  eventually(what, async () => {
    const now = await look()
    return isThere(now) && now
  })

beforeAll(async () => {
  service = await startService({
    METRICS_TOKEN: TOKEN,
    RATE_LIMITS: 'on',
    MAX_FAILED_LOGINS: '2',
    BOARD_WAIT_MS: '100',
  })
})
afterAll(async () => {
  await service.stop()
  await endProcesses()
})

describe('who may read the metrics', () => {
  test('[OBS-1] [OBS-19] requests with the token, also below /api', async () => {
    const { text } = await look()
    expect(text).toContain('# TYPE lockstep_http_requests_total counter')
    expect((await scrape(`${service.baseUrl}/api`, TOKEN)).text).toContain(
      `lockstep_build_info{version="${VERSION}",revision="${REVISION}"} 1`,
    )
  })

  test.each([
    ['without a token', 'GET', {}],
    ['with another one', 'GET', { authorization: 'Bearer another' }],
    ['with the beginning of it', 'GET', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['with it in another scheme', 'GET', { authorization: `Basic ${TOKEN}` }],
    ['with another method', 'POST', { authorization: `Bearer ${TOKEN}` }],
  ])('[OBS-1] %s the path is as unknown as any other', async (_, method, headers) => {
    const response = await service.anybody.request(method, '/metrics', { headers })
    const unknown = await service.anybody.request(method, '/no-such-path', { headers })
    const { 'x-request-id': _id, date: _date, ...otherHeaders } = Object.fromEntries(response.headers)
    const { 'x-request-id': _id2, date: _date2, ...usual } = Object.fromEntries(unknown.headers)
    expect([response.status, response.text, otherHeaders]).toEqual([404, unknown.text, usual])
  })

  test('[OBS-1] they do not exist unless configured, and are never part of the API document', async () => {
    const plain = await startService()
    onTestFinished(plain.stop)
    const { status } = await plain.anybody.request('GET', '/metrics', { headers: { authorization: 'Bearer ' } })
    expect(status).toBe(404)
    expect(JSON.stringify(openApi())).not.toContain('/metrics')
  })

  test('[OBS-2] they can have a separate port, which serves nothing else and closes with the service', async () => {
    const port = await freePort()
    const own = await startService({ METRICS_PORT: String(port) })
    const address = `http://127.0.0.1:${port}`
    expect((await scrape(address)).sum('lockstep_build_info')).toBe(1)
    expect((await fetch(`${address}/health`)).status).toBe(404)
    expect((await fetch(`${address}/metrics`, { method: 'POST' })).status).toBe(404)
    expect((await own.anybody.request('GET', '/metrics')).status).toBe(404)
    await own.stop()
    await expect(fetch(`${address}/metrics`)).rejects.toThrow()
  })

  test('[OBS-2] with a token, the separate port requires it too; a port that is in use fails the start', async () => {
    const port = await freePort()
    const settings = { METRICS_PORT: String(port), METRICS_TOKEN: TOKEN }
    const own = await startService(settings)
    onTestFinished(own.stop)
    const address = `http://127.0.0.1:${port}`
    expect((await fetch(`${address}/metrics`)).status).toBe(404)
    expect((await scrape(address, TOKEN)).series.size).toBeGreaterThan(50)
    const config = readConfig({ DATABASE_URL: service.databaseUrl, REDIS_URL: '', METRICS_PORT: String(port) })
    const late = await buildApp(config, createLogger({ level: 'silent' }))
    await expect(late.ready()).rejects.toThrow(/EADDRINUSE/)
    await late.close()
  })

  test('[OBS-2] production requires a token of at least 16 characters', () => {
    const inProduction = (METRICS_TOKEN: string) =>
      readConfig({ ENVIRONMENT: 'production', JWT_SECRET: `${MARK}-0123456789012345678901234`, METRICS_TOKEN })
    expect(() => inProduction('x'.repeat(15))).toThrow(BadSetting)
    expect(() => inProduction('x'.repeat(15))).toThrow(/METRICS_TOKEN/)
    expect(inProduction('x'.repeat(16)).metrics.token).toHaveLength(16)
    expect(inProduction('').metrics.port).toBe(0)
  })
})

describe('what is counted', () => {
  test('[OBS-3] requests by method, route template and status, with their duration', async () => {
    const { owner, id } = await service.board()
    const before = await look()
    await owner.api.call('getBoard', { params: { board_id: id } })
    await owner.api.fail('getBoard', { params: { board_id: randomUUID() } })
    const label = { method: 'GET', route: '/boards/:board_id' }
    const after = await seen('two requests', (now) => requests(now, label) === requests(before, label) + 2)
    const growth = (status: string) => requests(after, { ...label, status }) - requests(before, { ...label, status })
    expect([growth('200'), growth('404')]).toEqual([1, 1])
    const durations = (now: Scrape) => now.sum('lockstep_http_request_duration_seconds_count', label)
    expect(durations(after) - durations(before)).toBe(2)
    expect(after.sum('lockstep_http_problems_total', { code: 'board_not_found' })).toBeGreaterThan(0)
    // The scrape itself is in flight.
    expect(after.sum('lockstep_http_requests_in_flight')).toBe(1)
  })

  test('[OBS-3] a request that the client aborts is counted as aborted, and is no longer in flight', async () => {
    const { owner, id, columns } = await service.board()
    await using held = await holdBoard(service.sql, id)
    const gone = new AbortController()
    const write = fetch(`${service.baseUrl}/boards/${id}/columns/${columns[0].id}/cards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Nobody waits' }),
      signal: gone.signal,
    }).catch(() => {})
    await held.isAwaited()
    gone.abort()
    await write
    await seen('it was aborted', (now) => requests(now, { status: 'aborted', method: 'POST' }) === 1)
    await seen('nothing is in flight', (now) => now.sum('lockstep_http_requests_in_flight') === 1)
  })

  test('[OBS-7] rejections with 503, and the time that changes wait for a turn', async () => {
    const { owner, member, id, columns } = await service.board()
    const before = await look()
    const params = { board_id: id, column_id: columns[0].id }
    await using held = await holdBoard(service.sql, id)
    const first = owner.api.send('createCard', { params, body: { title: 'First' } })
    await held.isAwaited()
    const waiting = member.api.fail('createCard', { params, body: { title: 'Second' } })
    await seen('one waits', (now) => now.sum('lockstep_board_queue_waiting') === 1)
    expect(await waiting).toMatchObject({ code: 'board_busy' })
    await held.release()
    expect((await first).status).toBe(201)
    const after = await look()
    const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels)
    expect(grown('lockstep_http_shed_total', { code: 'board_busy' })).toBe(1)
    // The turns of both users, and those of the board.
    expect(grown('lockstep_board_queue_wait_seconds_count')).toBe(4)
    expect(grown('lockstep_board_queue_wait_seconds_sum')).toBeGreaterThan(0.09)
    expect(after.sum('lockstep_board_queue_waiting')).toBe(0)
  })

  test('[OBS-7] hashed passwords, reached rate limits, connections, rules and files', async () => {
    const { owner, member, id, columns } = await service.board()
    const before = await look()
    for (let i = 0; i < 3; i++) {
      await service.anybody.send('login', { body: { username: member.email, password: `${PASSWORD} wrong` } })
    }
    const label = await owner.api.call('createLabel', { params: { board_id: id }, body: { name: 'Now' } })
    const rule = { trigger_type: 'LABEL_ADDED', trigger_label_id: label.id, action_type: 'MOVE_TO_COLUMN' } as const
    await owner.api.call('createRule', {
      params: { board_id: id },
      body: { name: 'Now is done', ...rule, action_column_id: columns[1].id },
    })
    const params = { board_id: id, column_id: columns[0].id }
    const { id: card_id } = await owner.api.call('createCard', { params, body: { title: 'Card' } })
    await owner.api.call('addCardLabel', { params: { card_id, label_id: label.id } })
    const file = new File(['x'.repeat(1_000)], 'a.txt')
    const { id: attachment_id } = await owner.api.call('createAttachment', { params: { card_id }, body: { file } })
    await owner.api.send('getAttachment', { params: { attachment_id } })
    const after = await look()
    const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels)
    // The third was rejected before its password was verified.
    expect(grown('lockstep_argon2_wait_seconds_count')).toBe(2)
    expect(grown('lockstep_limit_refusals_total', { limit: 'failed_login' })).toBe(1)
    expect(grown('lockstep_rule_runs_total', { outcome: 'moved' })).toBe(1)
    expect(grown('lockstep_attachment_bytes_total', { direction: 'stored' })).toBe(1_000)
    expect(grown('lockstep_attachment_bytes_total', { direction: 'fetched' })).toBe(1_000)
    expect(grown('lockstep_events_committed_total')).toBeGreaterThan(4)
    expect(grown('lockstep_database_pool_wait_seconds_count')).toBeGreaterThan(10)
    expect(after.sum('lockstep_database_pool_connections')).toBeGreaterThan(0)
    expect(after.sum('lockstep_database_pool_max_connections')).toBe(10)
  })

  test('[OBS-7] sockets that open, resume and close, each by its reason', async () => {
    const { owner, id, columns } = await service.board()
    const before = await look()
    const socket = openSocket(owner.api, id, { seq: true })
    const { message: hello } = await socket.next('hello')
    const params = { board_id: id, column_id: columns[0].id }
    await owner.api.call('createCard', { params, body: { title: 'Seen' } })
    await socket.next('card.created')
    const open = await look()
    await socket.close()
    using back = openSocket(owner.api, id, { since: `${String(hello['epoch'])}.${hello.seq}` })
    await back.next('card.created')
    using rejected = openSocket(owner.api, id, { token: 'no token' })
    await rejected.closed
    const after = await seen(
      'both have ended',
      (now) => closes(now, 'client') > closes(before, 'client') && closes(now, 'refused') > closes(before, 'refused'),
    )
    expect(open.sum('lockstep_sockets') - before.sum('lockstep_sockets')).toBe(1)
    expect(open.sum('lockstep_live_boards')).toBeGreaterThan(0)
    const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels)
    expect(grown('lockstep_socket_opens_total')).toBe(2)
    expect(grown('lockstep_socket_resumes_total')).toBe(1)
    expect(grown('lockstep_deliveries_total')).toBe(2)
    expect(grown('lockstep_delivery_seconds_count', { source: 'here' })).toBe(1)
    expect(grown('lockstep_delivery_seconds_bucket', { source: 'here', le: '5' })).toBe(1)
  })
})

const requests = (now: Scrape, labels: Record<string, string>) => now.sum('lockstep_http_requests_total', labels)
const closes = (now: Scrape, reason: string) => now.sum('lockstep_socket_closes_total', { reason })

test('[OBS-4] a flood of paths, methods, ids and headers creates no new series', async () => {
  const { owner, id } = await service.board()
  const flood = async (times: number) => {
    for (let i = 0; i < times; i++) {
      const word = randomBytes(6).toString('hex')
      await Promise.all([
        owner.api.request('GET', `/${word}`),
        owner.api.request('GET', `/boards/${word}`),
        owner.api.request('GET', `/boards/${randomUUID()}?${word}=${word}`),
        owner.api.request('DELETE', `/cards/${randomUUID()}`),
        owner.api.request('OPTIONS', `/${word}`),
        owner.api.request('PATCH', `/${word}`),
        rawMethod('PURGE', `/${word}`),
        rawMethod('REPORT', `/boards/${id}`),
        openSocket(owner.api, word).closed,
        openSocket(owner.api, randomUUID(), { token: word }).closed,
      ])
    }
  }
  await flood(1)
  const before = await seen('the first round', (now) => requests(now, { method: 'other' }) >= 2)
  const count = requests(before, { route: 'none' })
  await flood(15)
  const after = await seen('the rest', (now) => requests(now, { route: 'none' }) >= count + 60)
  const added = [...after.series.keys()].filter((key) => !before.series.has(key))
  // The first garbage collection of each kind adds its series, also if another test caused it.
  expect(added.filter((key) => !key.startsWith('nodejs_gc_'))).toEqual([])
  expect(after.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
})

/** A request with a method that `fetch` would not send. */
function rawMethod(method: string, path: string): Promise<void> {
  const { hostname, port } = new URL(service.baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    )
    socket.resume()
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

test('[OBS-13] while Redis is down, the metrics show it, and the source of events instead', async () => {
  const redis = await startRedis()
  const settings = { METRICS_TOKEN: TOKEN, REDIS_URL: redis.url }
  const writing = await startService(settings)
  const watching = await startService(settings, { beside: writing })
  try {
    const now = () => scrape(watching.baseUrl, TOKEN)
    await eventually('Redis is heard', async () => (await now()).sum('lockstep_redis_suspect') === 0)
    const { owner, id, columns } = await writing.board()
    using viewer = openSocket({ baseUrl: watching.baseUrl, token: owner.api.token }, id)
    await viewer.next('user_joined')
    const before = await now()
    await redis.process().end('SIGKILL')
    await eventually('Redis is missed', async () => (await now()).sum('lockstep_redis_suspect') === 1)
    await owner.api.call('createCard', { params: { board_id: id, column_id: columns[0].id }, body: { title: 'Late' } })
    await viewer.next('card.created')
    const after = await now()
    const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels)
    expect(grown('lockstep_log_fills_total')).toBeGreaterThan(0)
    expect(grown('lockstep_log_fill_events_total')).toBe(1)
    expect(grown('lockstep_delivery_seconds_count', { source: 'log' })).toBe(1)
    expect(after.sum('lockstep_redis_canary_age_seconds')).toBeGreaterThan(0.6)
  } finally {
    await watching.stop()
    await writing.stop()
  }
})
