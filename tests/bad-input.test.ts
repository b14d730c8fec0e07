import { Agent, request as httpRequest } from 'node:http'
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import { type Client, type Failure, form, type Sending, sendingOf } from '@lockstep/testing/client'
import {
  type Attack,
  bodyAttacks,
  CANARY,
  contentTypeAttacks,
  everyParam,
  fieldAttacks,
  formAttacks,
  furnish,
  type Known,
  lastChange,
  newTargets,
  paramsIn,
  pathAttacks,
  propertiesOf,
  queryAttacks,
  validInput,
} from '@lockstep/testing/input-generator'
import { isFullSize, oneOfEach, REPEAT, sampleOf } from '@lockstep/testing/sample'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

type Named = [name: string, operation: Operation]
const all: Named[] = Object.entries<Operation>(operations)
/**
 * One operation of each kind of access and body. What does not depend on more than that is tested on these: credentials, paths,
 * methods, content types and bodies that are invalid as a whole.
 */
const oneOfEachKind = (some: Named[]) =>
  oneOfEach(some, ([, { access, body, body_type = 'json' }]) =>
    [typeof access === 'string' ? access : 'board', body ? body_type : 'none'].join(),
  )
const representatives = new Set(oneOfEachKind(all).map(([name]) => name))
const AT_ONCE = 8

let service: TestService
let owner: TestUser
/** A member of every board of the owner. */
let guest: TestUser
let nonMember: TestUser
let receiver: WebhookReceiver
/** A user for password changes. Nothing else depends on it. */
let passwordUser: TestUser
/** A superuser without boards. */
let root: TestUser
/** A board for requests that change nothing. */
let unchanged: Known = {}
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  receiver = await WebhookReceiver.start()
  const user = () => service.user()
  ;[owner, guest, nonMember, passwordUser] = await Promise.all([user(), user(), user(), user()])
  root = await service.user('office-root')
  await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
  unchanged = await newBoard()
})
afterAll(async () => {
  agent.destroy()
  await service.stop()
  await receiver.close()
})

/** A board of the owner with one of each of these resources. */
async function newBoard(resources: Iterable<string> = everyParam()): Promise<Known> {
  // A user can have 200 pending invitations, and these tests make more boards.
  const pending = 'delete from invitations where invited_by = $1 and board_id is distinct from $2'
  await service.sql.query(pending, [owner.id, unchanged['board_id']])
  const common = {
    user_id: guest.id,
    url: receiver.url,
    'createRule.action_user_id': owner.id,
    'updateRule.action_user_id': owner.id,
    'inviteMember.user_id': nonMember.id,
    'login.username': nonMember.email,
    password: PASSWORD,
    current_password: PASSWORD,
    new_password: PASSWORD,
  }
  const known = await furnish(owner.api, common, new Set(['board_id', ...resources]))
  const params = { board_id: known['board_id'] as string }
  await owner.api.call('inviteMember', { params, body: { user_id: guest.id } })
  return { ...known, ...(await newTargets(service)) }
}
/** A caller with the required access. An operation that ends all sessions gets its own user. */
const callerOf = async ({ access, path }: Operation) =>
  (path === '/auth/logout-everywhere' ? await service.user() : access === 'superuser' ? root : owner).api

interface RawResponse {
  status: number
  headers: Headers
  text: string
}
/** Sends requests that fetch would reject or normalize. */
function sendRaw(
  method: string,
  path: string,
  more: Record<string, string | string[]> = {},
  { token }: Client = owner.api,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>()
  const { hostname, port } = new URL(service.baseUrl)
  const headers = { authorization: `Bearer ${token}`, ...more }
  const sent = httpRequest({ agent, hostname, port, method, path, headers }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      const entries = Object.entries(response.headers).map(([key, value]): [string, string] => [key, String(value)])
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(entries),
        text: Buffer.concat(chunks).toString(),
      })
    })
  })
  sent.on('error', reject)
  sent.end()
  return promise
}

const codeOf = ({ status, text }: RawResponse) =>
  status >= 400 && text !== '' ? (JSON.parse(text) as Failure).code : undefined

/** Finds a response that is never allowed. */
function violationOf({ status, headers, text }: RawResponse): string | undefined {
  if (status >= 500 && !(status === 503 && headers.has('retry-after'))) return `a ${status}: ${text}`
  if (status < 400) return undefined
  if (text !== '' && typeof (JSON.parse(text) as Partial<Failure>).detail !== 'string') return `no detail: ${text}`
  if (`${text}${JSON.stringify([...headers])}`.includes(CANARY)) return `an echo: ${text}`
  const insides = /\bat .+:\d+|node_modules|\bselect\b.+\bfrom\b|syntax for type|Exception/i
  return insides.test(text) ? `our insides: ${text}` : undefined
}

/** Runs attacks, eight at a time, and returns the violations with the attacks that caused them. */
async function runAttacks<A extends { label: string }>(
  attacks: A[],
  complaintOf: (attack: A) => Promise<string | undefined>,
) {
  const complaints: string[] = []
  const queue = attacks.values()
  const worker = async () => {
    for (const attack of queue) {
      const wrong = await complaintOf(attack).catch((error: Error) => error.message)
      if (wrong !== undefined) complaints.push(`${attack.label}: ${wrong}`.replaceAll('\0', '').slice(0, 300))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return complaints
}

/** Expects one problem code, in an allowed response. */
const expectCode = (code: string, response: RawResponse) =>
  violationOf(response) ?? (codeOf(response) === code ? undefined : `${response.status} ${response.text}`)

/** An invalid payload must return 422, and a valid one must succeed or return another documented problem. */
async function attackAs(api: Client, method: string, { path, sending, isValid }: Attack) {
  const response = await api.request(method, path, sending)
  const { code, errors } = (response.status === 422 ? response.body : {}) as Partial<Failure>
  const isRefused = code === 'invalid_input'
  if (isRefused && !errors?.every(({ field, message }) => field && message)) return `lists no errors: ${response.text}`
  const isWrong = isValid !== undefined && isRefused === isValid
  return violationOf(response) ?? (isWrong ? `${response.status} ${response.text}` : undefined)
}

/** A fifth, but all on an operation that represents others. */
const sampledFor = <T>(name: string, attacks: T[]): T[] => (representatives.has(name) ? attacks : sampleOf(attacks, 5))

/** Of each field the simplest invalid inputs, and a fifth of the others. */
function sampleOfAttacks(attacks: Attack[]): Attack[] {
  const [simple, others] = [true, false].map((isSimple) =>
    attacks.filter(({ label }) => / missing$|: an object$/.test(label) === isSimple),
  )
  return [...(simple ?? []), ...sampleOf(others ?? [], 5)]
}

function attacksOn(name: string, operation: Operation, known: Known): Attack[] {
  const { body, body_type = 'json', query } = operation
  const input = () => validInput(name, operation, known)
  const paths = pathAttacks(operation, input)
  const specific = [
    ...(body && body_type === 'json' ? fieldAttacks(body, input) : []),
    ...(query ? queryAttacks(query, input) : []),
  ]
  if (!representatives.has(name)) return sampleOfAttacks([...specific, ...paths])
  return [
    ...sampleOfAttacks(specific),
    ...paths,
    ...(body && body_type === 'json' ? bodyAttacks(body, input) : []),
    ...(body && body_type === 'form' ? formAttacks(body, input) : []),
    // Uploads have their own tests.
    ...(body && body_type !== 'upload' ? contentTypeAttacks(body, body_type, input) : []),
  ]
}

describe('payloads', () => {
  const title =
    '[REQ-2] [REQ-3] [REQ-4] [REQ-6] [REQ-11] [REQ-28] [V27] [V33] %s rejects every invalid payload with 422, and only those'
  test.each(all)(title, async (name, operation) => {
    const api = name === 'changePassword' ? passwordUser.api : await callerOf(operation)
    const attacks = attacksOn(name, operation, await newBoard(paramsIn(name, operation)))
    const before = await lastChange(service)
    const refusals = attacks.filter(({ isValid }) => isValid === false)
    expect(await runAttacks(refusals, (attack) => attackAs(api, operation.method, attack)), REPEAT).toEqual([])
    expect(await lastChange(service)).toBe(before)
    const others = attacks.filter(({ isValid }) => isValid !== false)
    expect(await runAttacks(others, (attack) => attackAs(api, operation.method, attack)), REPEAT).toEqual([])
  })

  const bodiless = oneOfEachKind(all.filter(([, { method, body }]) => method !== 'GET' && !body))
  test.each(bodiless)('[REQ-2] %s handles an unexpected body', async (name, operation) => {
    const { path } = validInput(name, operation, await newBoard(paramsIn(name, operation)))
    // The largest first, before another request deletes the target.
    const bodies = [CANARY.padEnd(2_000_000, 'x'), '{', CANARY, 'null', '\0']
    const types = ['application/json', form({}).type, `application/json ${CANARY}`, 'multipart/form-data']
    const attacks = bodies.flatMap((content) =>
      types.map((type) => ({ label: `${content.slice(0, 20)} as ${type}`, sending: { raw: { type, content } } })),
    )
    const api = await callerOf(operation)
    const attack = async (sending: Sending) => violationOf(await api.request(operation.method, path, sending))
    expect(await runAttacks(attacks, ({ sending }) => attack(sending)), REPEAT).toEqual([])
  })

  test.each(sampleOf(all, 5))('[REQ-2] %s can be sent twice concurrently, and once more', async (name, operation) => {
    const { path, body } = validInput(name, operation, await newBoard(paramsIn(name, operation)))
    const api = await callerOf(operation)
    const replay = () => api.request(operation.method, path, sendingOf(operation.body_type, body))
    const responses = [...(await Promise.all([replay(), replay()])), await replay()]
    expect(responses.map(violationOf).filter((wrong) => wrong !== undefined)).toEqual([])
    const successes = responses.filter(({ status }) => status === operation.returns.status).length
    if ('id' in propertiesOf(operation.body)) expect(successes).toBe(1)
    else expect(successes).toBeGreaterThan(0)
  })
})

describe('unknown fields', () => {
  /** A recognizable value for each column type. */
  const stowaway: Record<string, unknown> = {
    text: 'stowaway',
    uuid: '5708a3a7-dead-4bad-8bad-5708a3a75708',
    bigint: 570857085708,
    integer: 57085708,
    boolean: true,
    'timestamp with time zone': '1957-08-05T07:08:57.085Z',
  }
  const COLUMNS = `select distinct column_name, data_type from information_schema.columns where table_schema = 'public'`
  const FOUND = `
    select tablename from pg_tables where schemaname = 'public' and query_to_xml(format(
      $$select 1 as found from %I t where t::text ~ 'stowaway|5708a3a7|57085708|1957-08-05'$$, tablename), true, false, '')::text ~ 'found'
    union all select username from users where (is_superuser or is_verified or not is_active)
      and username !~ '^(office|erased)-'`

  const takingJson = all.filter(([, { body, body_type }]) => body && body_type !== 'form')
  test.each(takingJson)(
    '[REQ-5] %s does not store body fields that are named like internal columns',
    async (name, operation) => {
      const { rows } = await service.sql.query<{ column_name: string; data_type: string }>(COLUMNS)
      const hidden = rows.map(({ column_name, data_type }) => [column_name, stowaway[data_type] ?? 'stowaway'])
      // An upload has at most 100 parts.
      const atOnce = operation.body_type === 'upload' ? 80 : hidden.length
      for (let from = 0; from < hidden.length; from += atOnce) {
        const { path, body } = validInput(name, operation, await newBoard(paramsIn(name, operation)))
        const some = Object.fromEntries(hidden.slice(from, from + atOnce))
        const json = { ...some, is_active: false, ...(body as object) }
        const api = await callerOf(operation)
        const response = await api.request(operation.method, path, sendingOf(operation.body_type, json))
        expect(response.status).toBe(operation.returns.status)
      }
      expect((await service.sql.query(FOUND)).rows).toEqual([])
    },
  )

  test('[REQ-5] the search for these values finds one', async () => {
    await service.sql.query(`update cards set title = 'a stowaway' where id = $1`, [(await newBoard())['card_id']])
    const { rows } = await service.sql.query(FOUND)
    await service.sql.query(`update cards set title = 'none' where title = 'a stowaway'`)
    expect(rows).toEqual([{ tablename: 'cards' }])
  })
})

describe('addresses and methods', () => {
  const withIds = oneOfEachKind(all.filter(([, { params }]) => params))
  test.each(withIds)('[REQ-11] [REQ-12] %s is not reached by a malformed path', async (name, operation) => {
    const { path, params } = validInput(name, operation, unchanged)
    const [id = ''] = Object.values(params)
    const ids = ['%ff', '%c0%af', '%zz', '..', '%2e%2e', CANARY.padEnd(10_240, 'x'), `${id},${id}`]
    const around = ['//', '/..', `/../${CANARY}`, `/${CANARY}`, '%2f', '%00', `;${CANARY}`].map((end) => path + end)
    const before = ['/', '/.', '/x/..', '/API', '/api/api'].map((start) => start + path)
    const malformed = [...before, ...around, path.replaceAll('/', '//'), ...ids.map((bad) => path.replace(id, bad))]
    const change = await lastChange(service)
    const refusals = ['not_found', 'invalid_input', 'uri_too_long', 'method_not_allowed']
    const api = await callerOf(operation)
    const attack = async (label: string) => {
      const response = await sendRaw(operation.method, label, {}, api)
      return violationOf(response) ?? (refusals.includes(codeOf(response) ?? '') ? undefined : `${response.status}`)
    }
    const attacks = malformed.map((label) => ({ label }))
    expect(await runAttacks(attacks, ({ label }) => attack(label)), REPEAT).toEqual([])
    expect(await lastChange(service)).toBe(change)
  })

  const overriding = (method: string) =>
    Object.fromEntries(['x-http-method-override', 'x-http-method', 'x-method-override'].map((name) => [name, method]))
  const paths = Map.groupBy(all, ([, { path }]) => path)
  test.each(sampleOf([...paths], 5))(
    '[REQ-13] %s returns 405 for other methods, whatever override header is sent',
    async (_, here) => {
      const [[name, operation]] = here as [(typeof all)[0]]
      const { path } = validInput(name, operation, unchanged)
      const methods = here.map(([, { method }]) => method as string)
      const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
      const every = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']
      const others = every.filter((method) => !allowed.includes(method)).map((label) => ({ label }))
      const change = await lastChange(service)
      const complaints = await runAttacks(others, async ({ label }) => {
        const response = await sendRaw(label, `${path}?_method=${methods[0]}`, overriding(methods[0] as string))
        const listed = response.headers.get('allow')?.split(', ').sort().join()
        const isRight = response.status === 405 && listed === [...allowed].sort().join()
        return violationOf(response) ?? (isRight ? undefined : `${response.status}, Allow: ${listed}`)
      })
      expect(complaints, REPEAT).toEqual([])
      expect(await lastChange(service)).toBe(change)
    },
  )

  const readable = sampleOf(
    all.filter(([, { method }]) => method === 'GET'),
    5,
  )
  test.each(readable)(
    '[REQ-11] [REQ-12] [REQ-13] %s returns the same response under each of its addresses',
    async (name, operation) => {
      const { path } = validInput(name, operation, unchanged)
      const api = await callerOf(operation)
      const ask = (method: string, at: string, more = {}) => sendRaw(method, at, more, api)
      const plain = await ask('GET', path)
      expect(plain.status).toBe(200)
      // The size of the database changes by itself.
      const same = { status: 200, ...(name !== 'getStatistics' && { text: plain.text }) }
      const names = [
        `${path}/`,
        `/api${path}`,
        `/api${path}/`,
        path.replaceAll(/[0-9a-f-]{36}/g, (id) => id.toUpperCase()),
      ]
      for (const other of names) expect(await ask('GET', other)).toMatchObject(same)
      expect(await ask('GET', path, overriding('DELETE'))).toMatchObject(same)
      expect(await ask('HEAD', path)).toMatchObject({ status: 200, text: '' })
    },
  )
})

describe('the order of checks', () => {
  const garbage: Sending[] = [
    {},
    { raw: { type: 'application/json', content: `{"${CANARY}` } },
    { raw: { type: `application/json ${CANARY}`, content: CANARY } },
    { raw: { type: 'application/json', content: '[]' }, headers: { 'content-encoding': 'gzip' } },
  ]
  const garbageFor = ({ method }: Operation) => (method === 'GET' ? garbage.slice(0, 1) : garbage)
  /** Credentials that are almost valid. */
  const forgeries = (token: string) => {
    const [header, payload, signature] = token.split('.')
    const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    const tokens = [
      ...[`${header}.${payload}`, `${header}.${payload}.`, `${unsigned}.${payload}.`, `${token}.${signature}`],
      ...[`${token}=`, `${token} x`, '', '.', '..', CANARY, CANARY.padEnd(8_000, 'x')],
    ]
    return [...tokens.map((bad) => `Bearer ${bad}`), `Basic ${token}`, `bearer${token}`, token, 'Bearer', '']
  }

  const guarded = all.filter(([, { access }]) => access !== 'public')
  test.each(guarded)(
    '[REQ-1] [ACCESS-1] [AUTH-11] %s checks authentication before anything else',
    async (name, operation) => {
      const input = validInput(name, operation, unchanged)
      const token = owner.api.token as string
      const attempts = [
        ...garbageFor(operation).map((sending) => ({ label: input.path, sending })),
        ...sampledFor(
          name,
          pathAttacks(operation, () => input),
        ).map(({ path, sending }) => ({ label: path, sending })),
        ...sampledFor(name, forgeries(token)).map((authorization) => ({
          label: input.path,
          sending: { headers: { authorization } },
        })),
        { label: `${input.path}?token=${token}&access_token=${token}`, sending: {} },
      ]
      const send = (path: string, sending: Sending) => service.anybody.request(operation.method, path, sending)
      const complaints = await runAttacks(attempts, async ({ label, sending }) =>
        expectCode('not_authenticated', await send(label, sending)),
      )
      expect(complaints, REPEAT).toEqual([])
    },
  )

  test('[AUTH-11] two Authorization headers are rejected, in either order', async () => {
    const [good, bad] = [`Bearer ${owner.api.token}`, `Bearer ${CANARY}`]
    const pairs = [
      [good, bad],
      [bad, good],
      [good, `Bearer ${nonMember.api.token}`],
    ]
    const responses = await Promise.all(pairs.map((authorization) => sendRaw('GET', '/auth/me', { authorization })))
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  const onBoards = all.filter(([, { access }]) => typeof access !== 'string')
  test.each(onBoards)(
    '[REQ-1] [ACCESS-2] %s is 403 for a non-member, whatever the request contains',
    async (name, operation) => {
      const input = validInput(name, operation, unchanged)
      const keyed = (sending: Sending) => ({ ...sending, headers: { ...sending.headers, 'idempotency-key': name } })
      const each = operation.method === 'GET' ? garbageFor(operation) : garbage.flatMap((one) => [one, keyed(one)])
      // Twice: a repeated write is checked in the same order.
      const attempts = [...each, ...each].map((sending) => ({ label: JSON.stringify(sending), sending }))
      const send = (path: string, sending: Sending) => nonMember.api.request(operation.method, path, sending)
      const complaints = await runAttacks(attempts, async ({ sending }) =>
        expectCode('not_a_member', await send(input.path, sending)),
      )
      // An invalid path is rejected before anything is read.
      const malformed = await runAttacks(
        sampledFor(
          name,
          pathAttacks(operation, () => input),
        ),
        async ({ path, sending }) => expectCode('invalid_input', await send(path, sending)),
      )
      expect([...complaints, ...malformed], REPEAT).toEqual([])
    },
  )
})

describe('administration', () => {
  const administering = all.filter(([, { access }]) => access === 'superuser')
  test.each(administering)(
    '[ADMIN-1] %s is 403 for other users, whatever the request contains',
    async (name, operation) => {
      const { path } = validInput(name, operation, unchanged)
      const bodies: Sending[] = [{}, { json: {} }, { raw: { type: 'application/json', content: `{"${CANARY}` } }]
      const attempts = (operation.method === 'GET' ? bodies.slice(0, 1) : bodies).map((sending, i) => ({
        label: `${i}`,
        sending,
      }))
      const change = await lastChange(service)
      const complaints = await runAttacks(attempts, async ({ sending }) =>
        expectCode('superuser_only', await owner.api.request(operation.method, path, sending)),
      )
      expect(complaints, REPEAT).toEqual([])
      expect(await lastChange(service)).toBe(change)
    },
  )
})

/** Bounds on time, which a busy machine misses. */
describe.runIf(isFullSize)('parsing time', () => {
  /**
   * How many times longer the larger input takes. The fastest of three runs counts, because the machine may be busy.
   */
  async function growth(send: (count: number) => Promise<unknown>, small: number, large: number) {
    const time = async (count: number) => {
      const started = performance.now()
      await send(count)
      return performance.now() - started
    }
    const times: Record<'small' | 'large', number[]> = { small: [], large: [] }
    for (let i = 0; i < 3; i++) {
      times.small.push(await time(small))
      times.large.push(await time(large))
    }
    return Math.min(...times.large) / Math.min(...times.small)
  }

  test('[REQ-5] many unknown form fields take linear time', async () => {
    const unknown = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=0`).join('&')
    const raw = (count: number) => ({ ...form({}), content: `${unknown(count)}&username=a&password=b` })
    const send = (count: number) => service.anybody.request('POST', '/auth/login', { raw: raw(count) })
    expect(await growth(send, 1_000, 20_000)).toBeLessThan(20)
  })

  test('[REQ-5] [V34] adversarial numeric keys take linear time', async () => {
    // Multiples of a power of two collide in a hash table that does not mix integer keys.
    const unknown = (count: number) => Array.from({ length: count }, (_, i) => `"${i * 65_536}":0`).join()
    const raw = (count: number) => ({ type: 'application/json', content: `{${unknown(count)}}` })
    const send = (count: number) => owner.api.request('POST', '/boards', { raw: raw(count) })
    expect(await growth(send, 2_500, 50_000)).toBeLessThan(40)
  })

  test('[REQ-3] invalid list items take linear time', async () => {
    const path = `/cards/${unchanged['card_id']}/assignees`
    const send = (count: number) => owner.api.request('PUT', path, { json: { user_ids: Array(count).fill(5) } })
    expect(await growth(send, 2_000, 20_000)).toBeLessThan(30)
  })
})
