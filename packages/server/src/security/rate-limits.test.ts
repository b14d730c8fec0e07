import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { type ApiResponse, Client, type Failure } from '@lockstep/testing/client'
import { scrape } from '@lockstep/testing/metrics'
import { endProcesses, eventually, type Store, startRedis } from '@lockstep/testing/processes'
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { createClient } from '@redis/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Passwords } from '../auth/passwords.ts'
import { networkOf } from '../platform/client-address.ts'
import { Problem } from '../platform/problem.ts'
import { LIMITS } from '../telemetry/metric-definitions.ts'
import { type FailureCount, RateLimits } from './rate-limits.ts'

const WRONG = `${MARK} wrong horse`
const [HOME, CAFE] = ['192.0.2.1', '198.51.100.7']
const NOBODYS_BOARD = '0198a000-0000-7000-8000-000000000000'

let redis: Store
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(endProcesses)

const services: TestService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()))
})
/** Limits, behind one proxy. The secret separates the counts from those of other tests on the same Redis. */
const withLimits = (settings: Record<string, string>) => ({
  RATE_LIMITS: 'on',
  TRUST_PROXY: '1',
  REDIS_URL: redis.url,
  JWT_SECRET: `${MARK}-${randomUUID()}`,
  ...settings,
})
async function limited(settings: Record<string, string> = {}, beside?: TestService): Promise<TestService> {
  const service = await startService(withLimits(settings), beside && { beside })
  // Instances without other work first.
  services.unshift(service)
  return service
}

const from = (address: string) => ({ 'x-forwarded-for': address })
const logIn = (at: TestService, username: string, password: string, address = HOME): Promise<ApiResponse> =>
  at.anybody.send('login', { body: { username, password }, headers: from(address) })
const statusOf = async (response: Promise<ApiResponse>) => (await response).status
/** Runs something several times in sequence, and counts the outcomes. */
async function statuses(times: number, send: (i: number) => Promise<ApiResponse>): Promise<number[]> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await send(i)).status)
  return all
}
const readMe = ({ api }: TestUser) => api.send('getMe', {})
const retryAfter = ({ headers }: ApiResponse) => Number(headers.get('retry-after'))
const newcomer = () => {
  const username = `new-${randomUUID()}`
  return { email: `${username}@example.com`, username, password: PASSWORD }
}
const register = (at: TestService, address = HOME, fields = newcomer()) =>
  at.anybody.send('register', { body: fields, headers: from(address) })

async function onRedis<T>(work: (client: ReturnType<typeof createClient>) => Promise<T>, url = redis.url): Promise<T> {
  const client = createClient({ url })
  await client.connect()
  try {
    return await work(client as ReturnType<typeof createClient>)
  } finally {
    client.destroy()
  }
}
/** Sets the windows of all counts in Redis to end soon. */
const endSoon = (bucket: string, ms: number) =>
  onRedis(async (client) => {
    for (const key of await client.keys(`limit:${bucket}:*`)) await client.pExpire(key, ms)
  })
/** A cluster of one node. Several URLs are a cluster, even if they lead to the same node. */
async function startCluster() {
  const node = await startRedis('--cluster-enabled', 'yes')
  await onRedis(async (client) => {
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
    await eventually('the cluster is whole', async () => (await client.clusterInfo()).includes('cluster_state:ok'))
  }, node.url)
  return { node, url: `${node.url},${node.url.replace('127.0.0.1', 'localhost')}` }
}

describe('failed logins', () => {
  let service: TestService
  let ada: TestUser
  /** Addresses without any counts. */
  let home: string
  let cafe: string
  let tests = 0
  beforeAll(async () => {
    const limits = { MAX_FAILED_LOGINS: '3', MAX_FAILED_LOGINS_PER_ADDRESS: '6', METRICS_TOKEN: MARK }
    service = await startService(withLimits(limits))
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    tests++
    ;[home, cafe] = [`192.0.2.${tests}`, `198.51.100.${tests}`]
    ada = await service.user()
  })

  test('[LIMIT-1] [LIMIT-2] [V20] a pair of account and address is rejected, also with the right password', async () => {
    expect(await statuses(4, () => logIn(service, ada.email, WRONG, home))).toEqual([401, 401, 401, 429])
    const rejected = await logIn(service, ada.email, PASSWORD, home)
    expect([rejected.status, (rejected.body as Failure).code]).toEqual([429, 'too_many_requests'])
    expect(retryAfter(rejected)).toBeGreaterThan(890)
    expect(retryAfter(rejected)).toBeLessThanOrEqual(900)
    // In any spelling of the e-mail address.
    expect(await statusOf(logIn(service, ada.email.toUpperCase(), PASSWORD, home))).toBe(429)
  })

  test('[LIMIT-2] [V21] the user can log in from other addresses, and other users from that address', async () => {
    const bob = await service.user()
    await statuses(4, () => logIn(service, ada.email, WRONG, home))
    expect(await statusOf(logIn(service, ada.email, PASSWORD, cafe))).toBe(200)
    expect(await statusOf(logIn(service, bob.email, PASSWORD, home))).toBe(200)
    expect(await statusOf(readMe(ada))).toBe(200)
    expect(await statusOf(logIn(service, ada.email, PASSWORD, home))).toBe(429)
  })

  test('[LIMIT-2] an account that does not exist, or is inactive, is counted like any other', async () => {
    await service.sql.query('update users set is_active = false where id = $1', [ada.id])
    for (const [email, address] of [
      ['nobody@example.com', home],
      [ada.email, cafe],
    ] as const)
      expect(await statuses(4, () => logIn(service, email, PASSWORD, address))).toEqual([401, 401, 401, 429])
  })

  test('[LIMIT-2] a successful login resets the count', async () => {
    for (let round = 0; round < 2; round++) {
      expect(await statuses(2, () => logIn(service, ada.email, WRONG, home))).toEqual([401, 401])
      expect(await statusOf(logIn(service, ada.email, PASSWORD, home))).toBe(200)
    }
  })

  test('[LIMIT-2] [V20] the limit ends with its window', async () => {
    await statuses(3, () => logIn(service, ada.email, WRONG, home))
    await endSoon('failed_login', 500)
    const rejected = await logIn(service, ada.email, PASSWORD, home)
    expect([rejected.status, retryAfter(rejected)]).toEqual([429, 1])
    await expect.poll(() => statusOf(logIn(service, ada.email, PASSWORD, home))).toBe(200)
  })

  test('[LIMIT-2] of many concurrent wrong passwords no more than the limit are verified; correct ones all succeed', async () => {
    const wrong = await Promise.all(Array.from({ length: 20 }, () => statusOf(logIn(service, ada.email, WRONG, home))))
    // Two are verified at a time, so the last pair may exceed the limit by one. What a busy Redis does not count in time, the
    // instance counts up to the same limit.
    const uncounted = (await scrape(service.baseUrl, MARK)).sum('lockstep_limit_uncounted_total')
    expect(wrong.filter((status) => status === 401).length).toBeLessThanOrEqual(uncounted === 0 ? 4 : 8)
    const right = Array.from({ length: 12 }, () => statusOf(logIn(service, ada.email, PASSWORD, cafe)))
    expect(new Set(await Promise.all(right))).toEqual(new Set([200]))
  })

  test('[LIMIT-2] no password is verified for a pair over the limit', async () => {
    const passwords = new Passwords({ minLength: 8, maxLength: 128, requires: [] })
    const refusal = new Problem('too_many_requests', { retryAfterSeconds: 1 })
    const failures = { require: () => Promise.reject(refusal), report: () => Promise.reject(new Error('it was')) }
    await expect(passwords.isCorrect('no hash at all', PASSWORD, { failures })).rejects.toBe(refusal)
  })

  test('[LIMIT-3] an address with failed logins for many accounts is rejected for all accounts, other addresses are not', async () => {
    const guess = (i: number) => logIn(service, `somebody-${i}@example.com`, WRONG, home)
    expect(await statuses(7, guess)).toEqual([401, 401, 401, 401, 401, 401, 429])
    expect(await statusOf(logIn(service, ada.email, PASSWORD, home))).toBe(429)
    expect(await statusOf(logIn(service, ada.email, PASSWORD, cafe))).toBe(200)
  })

  test('[LIMIT-3] a successful login in between does not reset the count of the address', async () => {
    const guess = (i: number) => logIn(service, `somebody-${i}@example.com`, WRONG, home)
    await statuses(5, guess)
    expect(await statusOf(logIn(service, ada.email, PASSWORD, home))).toBe(200)
    expect(await statuses(2, guess)).toEqual([401, 429])
  })

  test('[LIMIT-3] wrong current passwords are counted by user', async () => {
    const change = (current_password: string, { api } = ada) =>
      api.send('changePassword', { body: { current_password, new_password: `${MARK} another horse` } })
    expect(await statuses(4, () => change(WRONG))).toEqual([400, 400, 400, 429])
    expect(await statusOf(change(PASSWORD))).toBe(429)
    expect(await statusOf(readMe(ada))).toBe(200)
    expect(await statusOf(change(PASSWORD, await service.user()))).toBe(200)
  })
})

describe('logins', () => {
  test('[LIMIT-10] are limited per minute for one account from one address, successful or not', async () => {
    const service = await limited({ MAX_LOGINS_PER_MINUTE: '3' })
    const [ada, bob] = [await service.user(), await service.user()]
    expect(await statuses(5, () => logIn(service, ada.email, PASSWORD))).toEqual([200, 200, 200, 429, 429])
    const rejected = await logIn(service, ada.email, PASSWORD)
    expect([retryAfter(rejected) > 0, retryAfter(rejected) <= 60]).toEqual([true, true])
    expect(await statusOf(logIn(service, ada.email, PASSWORD, CAFE))).toBe(200)
    expect(await statusOf(logIn(service, bob.email, PASSWORD))).toBe(200)
    expect(await statuses(4, () => logIn(service, 'nobody@example.com', WRONG))).toEqual([401, 401, 401, 429])
  })

  test('[LIMIT-11] payloads that login and registration reject count for their address', async () => {
    const service = await limited({ MAX_BAD_PAYLOADS_PER_MINUTE: '4' })
    const { email } = await service.user()
    const bad = (i: number) =>
      i % 2 === 0
        ? register(service, HOME, { ...newcomer(), email: 'none' })
        : service.anybody.request('POST', '/auth/login', { json: {}, headers: from(HOME) })
    expect(await statuses(5, bad)).toEqual([422, 422, 422, 422, 429])
    expect(await statusOf(logIn(service, email, PASSWORD))).toBe(429)
    expect(await statusOf(logIn(service, email, PASSWORD, CAFE))).toBe(200)
    // Rejected before a body is read: this one is never sent.
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '100' }
    const unsent = request(`${service.baseUrl}/auth/login`, { method: 'POST', headers: { ...type, ...from(HOME) } })
    unsent.on('error', () => {}).flushHeaders()
    const [response] = (await once(unsent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(429)
    unsent.destroy()
  })
})

describe('registration', () => {
  test('[LIMIT-4] an address has a limit of registrations, including taken names; an invalid payload does not count', async () => {
    const service = await limited({ MAX_REGISTRATIONS_PER_HOUR: '3', PASSWORD_MIN_LENGTH: '8' })
    const taken = newcomer()
    expect(await statuses(2, () => register(service, HOME, { ...newcomer(), password: 'short' }))).toEqual([422, 422])
    expect(await statusOf(register(service, HOME, taken))).toBe(201)
    expect(await statusOf(register(service, HOME, taken))).toBe(409)
    await endSoon('registration', 1_500)
    expect(await statuses(2, () => register(service))).toEqual([201, 429])
    expect(await statusOf(register(service, CAFE))).toBe(201)
    await expect.poll(() => statusOf(register(service))).toBe(201)
  })
})

describe('requests', () => {
  test('[LIMIT-5] a user has a limit per minute, other users are not affected, and it ends', async () => {
    const service = await limited({ MAX_REQUESTS_PER_MINUTE: '3' })
    const [ada, bob] = await Promise.all([service.user(), service.user()])
    expect(await statusOf(readMe(ada))).toBe(200)
    await endSoon('request', 5_000)
    expect(await statuses(3, () => readMe(ada))).toEqual([200, 200, 429])
    const rejected = await readMe(ada)
    expect([retryAfter(rejected) >= 1, retryAfter(rejected) <= 5]).toEqual([true, true])
    expect(await statusOf(readMe(bob))).toBe(200)
    await expect.poll(() => statusOf(readMe(ada)), { timeout: 50_000 }).toBe(200)
  })

  test('[LIMIT-12] are limited per minute and address, for all users together', async () => {
    const service = await limited({ MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: '4' })
    const users = [await service.user(), await service.user(), await service.user()]
    const ask = (i: number, address: string) => (users[i % 3] as TestUser).api.send('getMe', { headers: from(address) })
    expect(await statuses(6, (i) => ask(i, CAFE))).toEqual([200, 200, 200, 200, 429, 429])
    expect(await statuses(3, (i) => ask(i, HOME))).toEqual([200, 200, 200])
  })

  test('[LIMIT-14] a 429 is sent after half a second, and its connection stays open', async () => {
    const { api } = await (await limited({ MAX_REQUESTS_PER_MINUTE: '1' })).user()
    await api.send('getMe', {})
    const began = performance.now()
    const { status, headers } = await api.send('getMe', {})
    expect([status, headers.get('connection')]).toEqual([429, 'keep-alive'])
    expect(performance.now() - began).toBeGreaterThan(490)
  })

  test('[LIMIT-5] [REQ-1] 401, 404 and 403 come before 429, an invalid payload after it', async () => {
    const service = await limited({ MAX_REQUESTS_PER_MINUTE: '10' })
    const { id, owner } = await service.board()
    const { api } = await service.user()
    await statuses(10, () => api.send('getMe', {}))
    expect(await statusOf(new Client(service.baseUrl, 'none').send('getMe', {}))).toBe(401)
    expect(await statusOf(api.request('GET', '/boards/none'))).toBe(422)
    expect(await statusOf(api.send('getBoard', { params: { board_id: NOBODYS_BOARD } }))).toBe(404)
    expect(await statusOf(api.send('getBoard', { params: { board_id: id } }))).toBe(403)
    expect(await statusOf(api.request('POST', '/boards', { json: { title: 5 } }))).toBe(429)
    expect(await statusOf(owner.api.send('getBoard', { params: { board_id: id } }))).toBe(200)
  })

  test('[LIMIT-5] health checks and documents are never limited', async () => {
    const one = { MAX_REQUESTS_PER_MINUTE: '1', MAX_REGISTRATIONS_PER_HOUR: '1', MAX_FAILED_LOGINS_PER_ADDRESS: '1' }
    const { anybody } = await limited(one)
    for (const path of ['/health', '/openapi.json', '/docs/'])
      expect(await statuses(5, () => anybody.request('GET', path))).toEqual([200, 200, 200, 200, 200])
  })
})

describe('addresses', () => {
  test('[LIMIT-6] [V26] a client cannot change its address with X-Forwarded-For', async () => {
    const [direct, proxied] = [
      await limited({ TRUST_PROXY: '0', MAX_REGISTRATIONS_PER_HOUR: '2' }),
      await limited({ TRUST_PROXY: '1', MAX_REGISTRATIONS_PER_HOUR: '2' }),
    ]
    expect(await statuses(3, (i) => register(direct, `203.0.113.${i}`))).toEqual([201, 201, 429])
    expect(await statuses(3, (i) => register(proxied, `203.0.113.${i}, ${HOME}`))).toEqual([201, 201, 429])
    expect(await statusOf(register(proxied, `${HOME}, ${CAFE}`))).toBe(201)
  })

  test('[LIMIT-6] the addresses of one IPv6 network count together', async () => {
    const service = await limited({ MAX_REGISTRATIONS_PER_HOUR: '2' })
    expect(await statuses(3, (i) => register(service, `2001:db8:1:2::${i}`))).toEqual([201, 201, 429])
    expect(await statusOf(register(service, '2001:db8:1:3::1'))).toBe(201)
  })

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:FFFF::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['fe80::1:2%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('[LIMIT-6] %s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('counts', () => {
  test('[LIMIT-7] are shared by instances', async () => {
    const settings = { MAX_FAILED_LOGINS: '3', MAX_REQUESTS_PER_MINUTE: '4', JWT_SECRET: `${MARK}-${randomUUID()}` }
    const one = await limited(settings)
    const two = await limited(settings, one)
    const ada = await one.user()
    const there = { ...ada, api: new Client(two.baseUrl, ada.api.token) }
    const failures = await statuses(4, (i) => logIn(i % 2 === 0 ? one : two, ada.email, WRONG))
    expect(failures).toEqual([401, 401, 401, 429])
    expect(await statuses(6, (i) => readMe(i % 2 === 0 ? ada : there))).toEqual([200, 200, 200, 200, 429, 429])
  })

  test('[LIMIT-7] contain no e-mail address, IP address or id', async () => {
    await onRedis((client) => client.flushAll())
    const service = await limited()
    const ada = await service.user()
    await logIn(service, ada.email, WRONG)
    await readMe(ada)
    const keys = await onRedis((client) => client.keys('limit:*'))
    expect(keys.length).toBe(6)
    for (const key of keys) expect(key).toMatch(/^limit:[a-z_]+:[\w-]{43}$/)
    expect(await onRedis((client) => Promise.all(keys.map((key) => client.ttl(key))))).not.toContain(-1)
  })

  test('[LIMIT-7] are kept by each instance without Redis', async () => {
    const service = await limited({ REDIS_URL: '', MAX_FAILED_LOGINS: '2', MAX_REQUESTS_PER_MINUTE: '3' })
    const ada = await service.user()
    expect(await statuses(3, () => logIn(service, ada.email, WRONG))).toEqual([401, 401, 429])
    expect(await statusOf(logIn(service, ada.email, PASSWORD, CAFE))).toBe(200)
    expect(await statuses(4, () => readMe(ada))).toEqual([200, 200, 200, 429])
  })

  test('[LIMIT-7] are kept in a cluster too', async () => {
    const { url: REDIS_URL, node } = await startCluster()
    const service = await limited({ REDIS_URL, MAX_FAILED_LOGINS: '2', MAX_REQUESTS_PER_MINUTE: '3' })
    const ada = await service.user()
    expect(await statuses(3, () => logIn(service, ada.email, WRONG))).toEqual([401, 401, 429])
    expect(await statusOf(logIn(service, ada.email, PASSWORD, CAFE))).toBe(200)
    expect(await statuses(4, () => readMe(ada))).toEqual([200, 200, 200, 429])
    expect(await onRedis((client) => client.keys('limit:*'), node.url)).not.toHaveLength(0)
  })

  test('[LIMIT-1] nothing is counted in development by default', async () => {
    const one = { MAX_REQUESTS_PER_MINUTE: '1', MAX_REGISTRATIONS_PER_HOUR: '1', MAX_FAILED_LOGINS: '1' }
    const service = await startService({ ...one, MAX_FAILED_LOGINS_PER_ADDRESS: '1', REDIS_URL: redis.url })
    services.unshift(service)
    const ada = await service.user()
    expect(await statuses(2, () => register(service))).toEqual([201, 201])
    expect(await statuses(3, () => logIn(service, ada.email, WRONG))).toEqual([401, 401, 401])
    expect(await statuses(3, () => readMe(ada))).toEqual([200, 200, 200])
  })
})

describe('response headers', () => {
  const limitsOf = ({ headers }: ApiResponse) => [headers.get('ratelimit-policy'), headers.get('ratelimit')]

  test('[LIMIT-13] say what is left of the user’s requests, whatever the status, and what was exceeded', async () => {
    // Without Redis, which does not always answer a busy machine in time.
    const service = await limited({ MAX_REQUESTS_PER_MINUTE: '3', REDIS_URL: '' })
    const { api } = await service.user()
    const responses = [
      await api.send('getMe', {}),
      await api.send('getBoard', { params: { board_id: NOBODYS_BOARD } }),
      await api.send('createBoard', { body: { title: '' } }),
      await api.send('getMe', {}),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 422, 429])
    const t = expect.stringMatching(/^"request";r=[0-2];t=([1-9]|[1-5]\d|60)$/)
    expect(responses.map(limitsOf)).toEqual(responses.map(() => ['"request";q=3;w=60', t]))
    expect(responses.map((each) => /r=(\d)/.exec(limitsOf(each)[1] ?? '')?.[1])).toEqual(['2', '1', '0', '0'])
    const last = responses.at(-1) as ApiResponse
    expect(limitsOf(last)[1]).toContain(`t=${retryAfter(last)}`)
  })

  test('[LIMIT-13] name the limit that was exceeded', async () => {
    const service = await limited({ MAX_LOGINS_PER_MINUTE: '1', MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: '1' })
    const { email, api } = await service.user()
    const login = await logIn(service, email, PASSWORD)
    expect(limitsOf(login)).toEqual([null, null])
    expect(limitsOf(await logIn(service, email, PASSWORD))[0]).toBe('"login";q=1;w=60')
    const read = () => api.send('getMe', { headers: from(CAFE) })
    expect(limitsOf(await read())[0]).toMatch(/^"request";/)
    expect(limitsOf(await read())[0]).toBe('"request_address";q=1;w=60')
  })

  test('[LIMIT-13] are absent without limits, and on a request that Redis did not count', async () => {
    const free = await limited({ RATE_LIMITS: 'off' })
    expect(limitsOf(await readMe(await free.user()))).toEqual([null, null])
    const store = await startRedis()
    const service = await limited({ REDIS_URL: store.url })
    const ada = await service.user()
    expect(limitsOf(await readMe(ada))[1]).toContain('"request";r=')
    store.process().signal('SIGSTOP')
    const frozen = await readMe(ada)
    expect([frozen.status, ...limitsOf(frozen)]).toEqual([200, null, null])
    store.process().signal('SIGCONT')
  })
})

describe('a Redis that fails', () => {
  const asNode = (node: Store) => ({ node, url: node.url })
  /** The log lines about rate limits, in order. */
  async function said({ logFile }: TestService): Promise<string[]> {
    const log = await readFile(logFile, 'utf8')
    return [...log.matchAll(/"msg":"([^"]*rate limits[^"]*)"/g)].map(([, sentence]) => sentence as string)
  }
  /**
   * Sends everything that is counted, one after the other. Returns the durations, without limits that have a fallback. Requests
   * and sockets pass uncounted; logins and registrations are counted by the instance.
   */
  async function tryEverything(service: TestService, ada: TestUser): Promise<number[]> {
    const times: number[] = []
    const timed = async (send: () => Promise<unknown>, expected: unknown) => {
      const start = performance.now()
      expect(await send()).toBe(expected)
      times.push(performance.now() - start)
    }
    for (let i = 0; i < 10; i++) await timed(() => statusOf(readMe(ada)), 200)
    const { id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
    for (let i = 0; i < 5; i++) {
      using socket = openSocket(ada.api, id)
      await timed(async () => (await socket.next()).message.type, 'user_joined')
    }
    expect(await statuses(3, () => logIn(service, ada.email, WRONG, INSURED))).toEqual([401, 401, 429])
    expect(await statuses(4, () => register(service, INSURED))).toEqual([201, 201, 201, 429])
    return times.sort((a, b) => a - b)
  }
  const saysSo = (service: TestService) =>
    eventually('it is said', async () => (await said(service)).length > 0).then(() => said(service))
  const hold = (service: TestService, ada: TestUser) =>
    eventually('the limits hold again', async () => (await statusOf(readMe(ada))) === 429).then(() => said(service))
  const few = {
    MAX_REQUESTS_PER_MINUTE: '4',
    MAX_FAILED_LOGINS: '2',
    MAX_REGISTRATIONS_PER_HOUR: '3',
    MAX_UPGRADES_PER_MINUTE: '2',
  }
  const once = [
    'Redis cannot count the rate limits: this instance counts logins, registrations, searches and unknown access tokens by itself, and other requests pass uncounted',
    'Redis counts the rate limits again',
  ]
  const INSURED = '203.0.113.9'

  /** How many wrong guesses of one password are verified, of many. */
  async function guess(service: TestService, email: string): Promise<number> {
    const responses = await statuses(12, () => logIn(service, email, WRONG))
    expect(new Set(responses)).toEqual(new Set([401, 429]))
    expect(responses.lastIndexOf(401)).toBeLessThan(responses.indexOf(429))
    return responses.filter((status) => status === 401).length
  }
  const uncounted = async ({ anybody }: TestService, limit: string) => {
    const { text } = await anybody.request('GET', '/metrics', { headers: { authorization: `Bearer ${MARK}` } })
    return Number(new RegExp(`^lockstep_limit_uncounted_total\\{limit="${limit}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  }
  const command = (store: Store, ...words: string[]) => onRedis((client) => client.sendCommand(words), store.url)
  const failing: [string, (store: Store) => Promise<unknown>][] = [
    ['full', (store) => command(store, 'CONFIG', 'SET', 'maxmemory', '1')],
    ['a replica', (store) => command(store, 'REPLICAOF', '127.0.0.1', '1')],
    ['gone', (store) => store.process().end('SIGKILL')],
    ['frozen', async (store) => store.process().signal('SIGSTOP')],
  ]
  test.each(failing)(
    '[LIMIT-9] because it is %s: each instance counts guesses by itself, and logs it',
    async (_, fail) => {
      const store = await startRedis()
      const service = await limited({ ...few, REDIS_URL: store.url, MAX_FAILED_LOGINS: '4', METRICS_TOKEN: MARK })
      const ada = await service.user()
      await fail(store)
      expect(await guess(service, ada.email)).toBe(4)
      const change = { current_password: WRONG, new_password: `${MARK} another horse` }
      const changes = await statuses(6, () => ada.api.send('changePassword', { body: change }))
      expect(changes).toEqual([400, 400, 400, 400, 429, 429])
      expect(await statuses(4, () => register(service, CAFE))).toEqual([201, 201, 201, 429])
      expect(await saysSo(service)).toEqual(once.slice(0, 1))
      for (const limit of ['failed_login', 'wrong_password', 'registration'])
        expect([limit, (await uncounted(service, limit)) > 0]).toEqual([limit, true])
      store.process().signal('SIGCONT')
    },
  )

  test('[LIMIT-9] because it is gone: every limit but those of requests and sockets is counted in the process', async () => {
    const store = await startRedis()
    await store.process().end('SIGKILL')
    const ones = Object.fromEntries(LIMITS.map((limit) => [limit, 1])) as Record<(typeof LIMITS)[number], number>
    const quiet = { info: () => {}, warn: () => {} }
    const limitsOf = (allowed: typeof ones) => new RateLimits({ redisUrl: store.url, secrets: [MARK], allowed }, quiet)
    const limits = limitsOf(ones)
    // A search counts by minute and by day, and a request by user and, always in the process, by address.
    const [byMinute, byDay] = [limitsOf({ ...ones, search_day: 100 }), limitsOf({ ...ones, search: 100 })]
    const [byMember, bySameMember] = [limitsOf({ ...ones, same_member: 100 }), limitsOf({ ...ones, new_member: 100 })]
    const byUser = limitsOf({ ...ones, request_address: 100 })
    const failure = async (count: FailureCount) => {
      const excess = await count.require().catch((problem: unknown) => problem)
      await count.report(false)
      return excess
    }
    // Failed logins have their own tests above.
    type Tested = Exclude<(typeof LIMITS)[number], 'failed_login' | 'request_address'>
    const attempts: Record<Tested, (n: number) => Promise<unknown>> = {
      login: () => limits.loginAttempt('ada', HOME),
      failed_login_address: (n) => failure(limits.login(`account-${n}`, 'hash', CAFE)),
      wrong_password: () => failure(limits.passwordChange('ada', 'hash')),
      registration: () => limits.registration(HOME),
      bad_payload: () => failure(limits.badPayloads(HOME)),
      invalid_link: () => failure(limits.invalidLinks(HOME)),
      search: () => byMinute.search('ada'),
      search_day: () => byDay.search('ada'),
      new_token: () => limits.newToken('ada'),
      unknown_token: () => failure(limits.unknownTokens(HOME)),
      new_member: (n) => byMember.newMember('ada', `user-${n}`),
      same_member: () => bySameMember.newMember('ada', 'bob'),
      token_member_change: () => limits.tokenMemberChange('ada'),
      webhook_change: () => limits.webhookChange('ada'),
      webhook_test: () => limits.webhookTest('webhook'),
      request: async () => (await byUser.request('ada', HOME)).excess,
      upgrade: () => limits.upgrade(HOME),
    }
    const outcomes: Record<string, [boolean, boolean]> = {}
    for (const [limit, attempt] of Object.entries(attempts))
      outcomes[limit] = [(await attempt(1)) === undefined, (await attempt(2)) instanceof Problem]
    for (const each of [limits, byMinute, byDay, byMember, bySameMember, byUser]) each.close()
    const isCounted = (limit: string) => limit !== 'request' && limit !== 'upgrade'
    const expected = Object.keys(attempts).map((limit) => [limit, [true, isCounted(limit)]])
    expect(outcomes).toEqual(Object.fromEntries(expected))
  })

  test.each([100, 400])('[LIMIT-9] because it takes %d ms to reply lets no more guesses pass', async (askDelayMs) => {
    const proxy = await startProxy(redis.url, { askDelayMs })
    const service = await limited({ ...few, REDIS_URL: proxy.url, MAX_FAILED_LOGINS: '4' })
    const { email } = await service.user()
    expect(await guess(service, email)).toBe(4)
    const keys = await onRedis((client) => client.keys('limit:failed_login:*'))
    // A reply within 250 ms is awaited: then the count is shared by all instances.
    if (askDelayMs < 250) expect(keys).not.toEqual([])
    await proxy.close()
  })

  test('[LIMIT-8] because it is frozen rejects and delays no request', async () => {
    const store = await startRedis()
    const service = await limited({ ...few, REDIS_URL: store.url })
    const [ada, bob] = [await service.user(), await service.user()]
    expect(await statuses(5, () => readMe(bob))).toEqual([200, 200, 200, 200, 429])
    store.process().signal('SIGSTOP')
    const times = await tryEverything(service, ada)
    // The first may wait for 50 ms, later ones do not wait. If each waited, so would the fastest.
    expect(times[0]).toBeLessThan(50)
    expect(await saysSo(service)).toEqual(once.slice(0, 1))
    store.process().signal('SIGCONT')
    expect(await hold(service, ada)).toEqual(once)
  })

  test('[LIMIT-8] because it is frozen is awaited once, not by every request', async () => {
    const store = await startRedis()
    const allowed = Object.fromEntries(LIMITS.map((limit) => [limit, 1_000])) as Record<(typeof LIMITS)[number], number>
    const quiet = { info: () => {}, warn: () => {} }
    const limits = new RateLimits({ redisUrl: store.url, secrets: [MARK], allowed }, quiet)
    expect((await limits.request(randomUUID(), HOME)).excess).toBeUndefined()
    store.process().signal('SIGSTOP')
    const times: number[] = []
    for (let i = 0; i < 100; i++) {
      const start = performance.now()
      expect((await limits.request(randomUUID(), HOME)).excess).toBeUndefined()
      times.push(performance.now() - start)
    }
    // If each waited for 50 ms, so would the fastest.
    expect(Math.min(...times)).toBeLessThan(50)
    limits.close()
  })

  test('[LIMIT-8] because its connection died silently is asked on a new connection', async () => {
    const store = await startRedis()
    const proxy = await startProxy(store.url)
    const service = await limited({ ...few, REDIS_URL: proxy.url })
    const ada = await service.user()
    proxy.forget()
    await tryEverything(service, ada)
    expect(await saysSo(service)).toEqual(once.slice(0, 1))
    expect(await hold(service, ada)).toEqual(once)
    await proxy.close()
  })

  test('[LIMIT-8] because it is gone rejects no request, and the limits apply again when it is back', async () => {
    const store = await startRedis()
    const service = await limited({ ...few, REDIS_URL: store.url })
    const ada = await service.user()
    await store.process().end('SIGKILL')
    await tryEverything(service, ada)
    expect(await saysSo(service)).toEqual(once.slice(0, 1))
    await store.start()
    expect(await hold(service, ada)).toEqual(once)
  })

  test.each(['one server', 'a cluster'])('[LIMIT-8] because it is not there yet: %s', async (kind) => {
    const { url, node } = kind === 'a cluster' ? await startCluster() : await startRedis().then(asNode)
    await node.process().end('SIGKILL')
    const service = await limited({ ...few, REDIS_URL: url })
    const ada = await service.user()
    await tryEverything(service, ada)
    expect(await saysSo(service)).toEqual(once.slice(0, 1))
    await node.start()
    expect(await hold(service, ada)).toEqual(once)
  })
})

describe('a new signing secret', () => {
  test('[CONF-6] counts continue through every step of the replacement, on instances at different steps', async () => {
    const [A, B] = [`${MARK}-a-${randomUUID()}`, `${MARK}-b-${randomUUID()}`]
    const at = (JWT_SECRET: string, JWT_SECRET_PREVIOUS: string, beside?: TestService) =>
      limited({ MAX_FAILED_LOGINS: '6', JWT_SECRET, JWT_SECRET_PREVIOUS }, beside)
    const before = await at(A, '')
    const { email } = await before.user()
    const accepting = await at(A, B, before)
    const signing = await at(B, A, before)
    const after = await at(B, '', before)
    const guess = (service: TestService) => statusOf(logIn(service, email, WRONG))
    // Neighbouring steps run at the same time; the first and the last never do.
    for (const service of [before, accepting, accepting, signing, signing, accepting])
      expect(await guess(service)).toBe(401)
    for (const service of [accepting, signing]) expect(await guess(service)).toBe(429)
    // The new secret has counted five of the six.
    expect([await guess(after), await guess(after)]).toEqual([401, 429])
  })
})
