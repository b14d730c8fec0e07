import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import { Client, form, sendingOf } from '@lockstep/testing/client'
import { furnish, type Known, propertiesOf, validInput } from '@lockstep/testing/input-generator'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, eventually, startRedis } from '@lockstep/testing/processes'
import { isFullSize, sampleOf } from '@lockstep/testing/sample'
import { MARK, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { serveBehindSlowGuards, slowly } from '@lockstep/testing/slow-guards'
import { openSocket } from '@lockstep/testing/socket'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Classes of vulnerabilities of other board services that do not belong to another test file. */
const all = Object.entries<Operation>(operations)
let service: TestService
let owner: TestUser
let guest: TestUser
let receiver: WebhookReceiver
beforeAll(async () => {
  // Two hundred concurrent requests must not be rejected.
  service = await startService({ ADMIN_API: 'on', MAX_REQUESTS_AT_ONCE: '200' })
  receiver = await WebhookReceiver.start()
  ;[owner, guest] = await Promise.all([service.user(), service.user()])
  await service.sql.query('update users set is_superuser = true where id = $1', [owner.id])
})
afterAll(async () => {
  await service.stop()
  await receiver.close()
  await endProcesses()
})

/** A board of a user with one of each resource. Rules and user lists contain that user. */
const newBoardOf = ({ api, id }: TestUser) =>
  furnish(api, { user_id: id, url: receiver.url, 'inviteMember.user_id': guest.id })

describe('a slow authorization check', () => {
  const person = {
    ...{ user_id: randomUUID(), username: 'somebody' },
    ...{ is_active: true, is_superuser: false, tokens_valid_from: null },
  }
  /** Calls every operation that is not public. Returns the handlers that were reached, and the statuses. */
  async function callEverything(accessRow: typeof person | undefined) {
    const reached = new Set<string>()
    let current = ''
    const { baseUrl, close } = await serveBehindSlowGuards(accessRow, () => {
      reached.add(current)
      throw new Error('A handler was reached')
    })
    const params = all.flatMap(([, operation]) => Object.keys(propertiesOf(operation.params)))
    const known: Known = Object.fromEntries(params.map((param) => [param, randomUUID()]))
    const statuses: Record<string, number> = {}
    for (const [name, operation] of all.filter(([, { access }]) => access !== 'public')) {
      const { path, body } = validInput(name, operation, known)
      current = name
      statuses[name] = (await call(baseUrl + path, operation, body)).status
      // Waits for checks that were not awaited.
      await slowly(undefined)
    }
    await close()
    return { reached: [...reached], statuses }
  }
  function call(url: string, { method, body_type }: Operation, content: unknown) {
    const { json, raw } = sendingOf(body_type, content)
    const type = json === undefined ? undefined : { 'content-type': 'application/json' }
    const headers = { authorization: 'Bearer token', ...type }
    const body = (raw?.content as FormData | undefined) ?? (json === undefined ? undefined : JSON.stringify(json))
    return fetch(url, { method, headers, ...(body !== undefined && { body }) })
  }
  const onBoard = (role: 'owner' | null) => ({ ...person, board_id: randomUUID(), role })
  const onBoards = all.flatMap(([name, { access }]) => (typeof access === 'object' ? [name] : []))
  const forSuperusers = all.flatMap(([name, { access }]) => (access === 'superuser' ? [name] : []))

  test('[ACCESS-1] [V14] an unauthenticated caller reaches no operation while the check is running', async () => {
    const { reached, statuses } = await callEverything(undefined)
    expect(reached).toEqual([])
    expect(new Set(Object.values(statuses))).toEqual(new Set([401]))
  })

  test('[ACCESS-2] [V14] a non-member reaches no operation of a board while the check is running', async () => {
    const { reached, statuses } = await callEverything(onBoard(null))
    expect(reached.filter((name) => onBoards.includes(name))).toEqual([])
    expect(onBoards.filter((name) => statuses[name] !== 403)).toEqual([])
  })

  test('[ACCESS-2] [V14] an owner reaches every operation, so it was the check that stopped the others', async () => {
    const { reached, statuses } = await callEverything({
      ...onBoard('owner'),
      is_superuser: true,
      ...{ author_id: person.user_id },
    })
    expect(reached).toEqual(Object.keys(statuses))
  })

  test('[ADMIN-1] [V14] a caller who is not a superuser reaches no admin operation while the check is running', async () => {
    const { reached, statuses } = await callEverything(onBoard('owner'))
    expect(forSuperusers.length).toBeGreaterThan(0)
    expect(reached.filter((name) => forSuperusers.includes(name))).toEqual([])
    expect(forSuperusers.filter((name) => statuses[name] !== 403)).toEqual([])
  })
})

describe('many users at once', () => {
  const [USERS, AT_ONCE] = isFullSize ? [50, 200] : [20, 100]
  /** Operations that delete data of the caller, return other users, or hash a password. */
  const isLeftOut = (name: string) =>
    /^(delete|remove|unassign|findUsers$|changePassword$|logoutEverywhere$)/.test(name)

  test('[EVENT-5] [AUTH-16] [V15] all get only their own data, and are the authors of their own writes', async () => {
    const users = await Promise.all(Array.from({ length: USERS }, () => service.user()))
    const boards = await Promise.all(users.map(newBoardOf))
    /** The owner of each id. */
    const ownerOf = new Map(
      users.flatMap((user, i) => [
        [user.id, i] as const,
        ...Object.entries(boards[i] as Known).flatMap(([key, id]) =>
          id && key !== 'inviteMember.user_id' ? [[id, i] as const] : [],
        ),
      ]),
    )
    // Each operation is called by a third of the users.
    const calls = all
      .filter(([name, { access }]) => access !== 'public' && !isLeftOut(name))
      .flatMap(([name, operation], nth) =>
        users.flatMap((user, i) => ((i + nth) % 3 === 0 ? [{ name, operation, user, i }] : [])),
      )
    const foreign: string[] = []
    const queue = calls.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const { name, operation, user, i } of queue) {
          const { path, body } = validInput(name, operation, boards[i] as Known)
          const { status, text } = await user.api.request(operation.method, path, sendingOf(operation.body_type, body))
          if (status >= 500) foreign.push(`${name}: ${status}`)
          const ids: string[] = text.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []
          if (ids.some((id) => (ownerOf.get(id) ?? i) !== i)) foreign.push(`${name} told ${i} of another`)
          if (name === 'getMe' && !ids.includes(user.id)) foreign.push(`${name} was somebody else`)
          const token = /"access_token":"[^.]+\.([^.]+)/.exec(text)?.[1]
          if (token && !Buffer.from(token, 'base64url').toString().includes(user.id)) foreign.push(`${name} of another`)
        }
      }),
    )
    expect(foreign).toEqual([])
    expect(calls.length).toBeGreaterThan(3 * AT_ONCE)

    const { rows } = await service.sql.query<{ board_id: string; author: string }>(`
      select board_id, user_id as author from board_events where user_id is not null
      union all select id, created_by from boards union all select id, updated_by from boards
      union all select board_id, user_id from board_members where role = 'owner'`)
    // Other authors only made the fixtures.
    const made = rows.filter(({ board_id, author }) => ownerOf.has(board_id) && ownerOf.has(author))
    expect(made.length).toBeGreaterThan(USERS * 5)
    expect(made.filter(({ board_id, author }) => ownerOf.get(board_id) !== ownerOf.get(author))).toEqual([])
  })
})

describe('claims in a body', () => {
  const onBoards = all.filter(([, { body, emits }]) => body && emits)

  test.each(sampleOf(onBoards, 5))(
    '[EVENT-5] [REQ-5] [V16] %s has its caller as the author, whatever the body says',
    async (name, operation) => {
      const { path, body } = validInput(name, operation, await newBoardOf(owner))
      const names = [
        'user_id',
        'created_by',
        'updated_by',
        'author_id',
        'actor_id',
        'owner_id',
        'user',
        'sub',
        'caller',
      ]
      const json = { ...Object.fromEntries(names.map((field) => [field, guest.id])), ...(body as object) }
      const response = await owner.api.request(operation.method, path, sendingOf(operation.body_type, json))
      expect(response.status).toBe(operation.returns.status)
      const { rows: boards } = await service.sql.query('select from boards where created_by = $1 or updated_by = $1', [
        guest.id,
      ])
      const { rows: events } = await service.sql.query('select from board_events where user_id = $1', [guest.id])
      expect([boards, events]).toEqual([[], []])
    },
  )

  test('[MEMBER-1] [REQ-5] [V18] no field of a board or an invitation makes a user an owner', async () => {
    const claim = {
      members: [{ user_id: guest.id, role: 'owner' }],
      role: 'owner',
      owner: guest.id,
      owner_id: guest.id,
    }
    const made = await owner.api.request('POST', '/boards', { json: { title: 'Plan', ...claim } })
    const { id: board_id } = made.body as { id: string }
    const path = `/boards/${board_id}`
    await owner.api.request('POST', `${path}/invite`, { json: { ...claim, user_id: guest.id } })
    await owner.api.request('PATCH', path, { json: { title: 'Mine', ...claim } })
    const roles = async () => {
      const members = await owner.api.call('listMembers', { params: { board_id } })
      return members.map(({ user_id, role }) => [user_id, role])
    }
    const expected = [
      [owner.id, 'owner'],
      [guest.id, 'member'],
    ]
    expect(await roles()).toEqual(expected)

    const attempts = [
      guest.api.request('PATCH', path, { json: claim }),
      guest.api.request('PATCH', `${path}/members/${guest.id}`, { json: { role: 'owner' } }),
      guest.api.request('PATCH', `${path}/members/${owner.id}`, { json: { role: 'member' } }),
      guest.api.request('POST', `${path}/invite`, { json: { ...claim, user_id: owner.id } }),
    ]
    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(await roles()).toEqual(expected)
  })
})

describe('names in a request', () => {
  const readable = all.filter(
    // These change by themselves.
    ([name, { method }]) => method === 'GET' && !['getHealth', 'getStatistics'].includes(name),
  )
  const unknownParameters = [
    'order_by=hashed_password',
    'sort=-users.hashed_password',
    'ordering=(select+1)',
    'fields=hashed_password',
    'include=hashed_password,user.hashed_password',
    'filter[hashed_password][$regex]=^a',
    'where={"is_superuser":true}',
    'hashed_password__startswith=%24argon2',
    'group_by=1;drop+table+users',
    '__proto__[is_superuser]=true',
  ]

  test.each(sampleOf(readable, 5))('[REQ-5] [V25] %s ignores unknown query parameters', async (name, operation) => {
    const { path } = validInput(name, operation, await newBoardOf(owner))
    const plain = await owner.api.request('GET', path)
    expect(plain.status).toBe(200)
    for (const query of [...unknownParameters, unknownParameters.join('&')]) {
      const { status, text } = await owner.api.request('GET', `${path}?${query}`)
      expect([query, status, text]).toEqual([query, 200, plain.text])
    }
  })

  test('[REQ-4] [REQ-6] [V27] query operators are not accepted instead of text, in a form or in JSON', async () => {
    const operators = ['username[$ne]=&password[$ne]=', 'username[]=a&password[]=b', 'username[$gt]=&password=x']
    for (const content of operators) {
      const response = await service.anybody.request('POST', '/auth/login', { raw: { ...form({}), content } })
      expect(response.status).toBe(422)
    }
    for (const title of [{ $ne: '' }, ['x'], { $where: '1' }, { toString: 'x' }]) {
      expect((await owner.api.request('POST', '/boards', { json: { title } })).status).toBe(422)
    }
    const found = await owner.api.request('GET', '/users?search[$ne]=&search[$regex]=.*')
    expect(found.text).toBe((await owner.api.request('GET', '/users')).text)
  })
})

describe('headers', () => {
  /** Sends a request as bytes, with header names that client libraries do not allow. */
  async function sendBytes(lines: string[]): Promise<string> {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`${[...lines, 'Host: x', 'Connection: close'].join('\r\n')}\r\n\r\n`)
    return textOf(socket)
  }
  const isAlive = async () => (await service.anybody.send('getHealth', {})).status === 200

  test('[REQ-14] [V34] named like object members have no effect', async () => {
    const names = [
      '__proto__',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
    ]
    const strange = names.map((name) => `${name}: x`)
    const me = ['GET /auth/me HTTP/1.1', ...strange]
    expect(await sendBytes([...me, `Authorization: Bearer ${owner.api.token}`])).toMatch(/^HTTP\/1\.1 200 .*"id":/s)
    expect(await sendBytes(me)).toMatch(/^HTTP\/1\.1 401 /)
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==',
    ]
    const bytes = await sendBytes([`GET /ws/boards/${randomUUID()} HTTP/1.1`, ...strange, ...upgrade])
    expect(bytes).toMatch(/^HTTP\/1\.1 /)
    expect(await isAlive()).toBe(true)
  })

  test('[REQ-14] [V31] above the size limit end only their own connection, also in a WebSocket handshake', async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => `x${i}:`)
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==']
    for (const path of ['/health', `/ws/boards/${randomUUID()}`]) {
      const bytes = await sendBytes([`GET ${path} HTTP/1.1`, ...many, ...upgrade])
      expect(bytes).not.toMatch(/^HTTP\/1\.1 5/)
      expect(await isAlive()).toBe(true)
    }
  })
})

describe('text', () => {
  const payloads = [
    '<img src=x onerror=alert(1)>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
    '<svg/onload=alert(1)//',
    'javascript:alert(1)',
    '&lt;b&gt; &amp; &#60;',
    '{{7*7}} <%= 7 %>',
    `=cmd|' /C calc'!A0`,
    `'; drop table cards; --`,
    '\u202egnp.exe',
  ]
  // File names have their own tests.
  const creating = all.filter(
    ([name, { emits, body, body_type }]) => emits && body && body_type !== 'upload' && name.startsWith('create'),
  )

  test.each(creating)(
    '[REQ-6] [V36] %s stores it byte for byte, in the response, the board and the log',
    async (name, operation) => {
      const { path, body } = validInput(name, operation, await newBoardOf(owner))
      const field = ['title', 'name', 'content', 'body'].find((key) => key in (body as object)) as string
      for (const payload of payloads) {
        const json = { ...(body as object), id: randomUUID(), [field]: payload }
        const { body: made, headers } = await owner.api.request('POST', path, { json })
        expect(made).toMatchObject({ id: json.id, [field]: payload })
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        const { rows } = await service.sql.query<{ body: string }>('select body from board_events where body like $1', [
          `%${json.id}%`,
        ])
        for (const event of rows) expect(event.body).toContain(JSON.stringify(payload))
      }
    },
  )

  test('[DOC-2] [V36] documentation pages contain nothing that users wrote', async () => {
    for (const page of ['/docs', '/redoc', '/docs/realtime', '/redoc/realtime', '/openapi.json', '/asyncapi.json']) {
      const { status, text } = await service.anybody.request('GET', page)
      expect([page, status]).toEqual([page, 200])
      for (const payload of payloads.slice(0, 3)) expect(text).not.toContain(payload)
      expect(text).not.toContain(owner.username)
    }
  })
})

describe('the source', () => {
  const sources = globSync('packages/server/src/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const filesWith = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file)

  test('[DOC-4] [V29] secrets and ids never come from Math.random', () => {
    // Used for the jitter of heartbeats, and of retries.
    expect(filesWith(/Math\.random/).sort()).toEqual([
      'packages/server/src/realtime/live.ts',
      'packages/server/src/webhooks/dispatcher.ts',
    ])
    expect(filesWith(/node:crypto/).length).toBeGreaterThan(1)
  })

  test('[DOC-4] [V30] only one module connects to an address that a user named', () => {
    const outgoing =
      /\bfetch\(|^import (?!type)[^']*'(?:node:(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?|undici|axios)'/m
    const listening = ['http/metrics-endpoint.ts']
    const onlyParsing = [
      'platform/client-address.ts',
      'platform/networks.ts',
      'platform/redis.ts',
      'webhooks/outgoing-rules.ts',
    ]
    const known = [...listening, ...onlyParsing, 'webhooks/outgoing.ts'].map((name) => `packages/server/src/${name}`)
    expect(filesWith(outgoing).toSorted()).toEqual(known.toSorted())
    for (const text of [
      "import { request } from 'node:http'",
      "import {\n  connect,\n} from 'node:tls'",
      "import { lookup } from 'node:dns/promises'",
      'await fetch(url)',
    ])
      expect([text, outgoing.test(text)]).toEqual([text, true])
    const connecting = /\b(?:connect|createConnection|request|Socket|lookup)\b[^']*'node:(?:http|net)'/
    const parsers = onlyParsing.map((name) => readFileSync(`packages/server/src/${name}`, 'utf8'))
    for (const text of parsers) expect(text).not.toMatch(connecting)
    expect("import { connect, isIP } from 'node:net'").toMatch(connecting)
  })
})

describe('the configuration of the service', () => {
  /** Values that must not appear in any page, document or error: settings and store addresses. */
  const secrets = ({ databaseUrl }: { databaseUrl: string }) => [
    MARK,
    new URL(databaseUrl).pathname.slice(1),
    'postgres:',
    'redis:',
  ]
  const pages = [
    '/health',
    '/docs',
    '/redoc',
    '/docs/realtime',
    '/openapi.json',
    '/asyncapi.json',
    '/nowhere',
    '/boards',
    '/users?limit=x',
    '/config',
    '/metrics',
    '/.env',
  ]

  test('[HEALTH-1] [REQ-2] [V40] does not appear in any response', async () => {
    const responses = await Promise.all(pages.map((page) => owner.api.request('GET', page)))
    for (const { text, headers } of responses)
      for (const secret of secrets(service)) expect(text + JSON.stringify([...headers])).not.toContain(secret)
  })

  test('[HEALTH-1] [REQ-2] [V40] does not appear in errors when the stores are unreachable', async () => {
    const nowhere = `postgres://${MARK}:${MARK}@127.0.0.1:${await freePort()}/lost-database`
    const lost = await startService({
      DATABASE_URL: nowhere,
      REDIS_URL: `redis://:${MARK}@127.0.0.1:${await freePort()}`,
    })
    try {
      const api = new Client(lost.baseUrl, owner.api.token)
      const responses = [await api.send('getHealth', {}), await api.send('listBoards', {})]
      expect(responses.map(({ status }) => status)).toEqual([503, 503])
      for (const { text, headers } of responses)
        for (const secret of [...secrets({ databaseUrl: nowhere }), 'ECONNREFUSED', '127.0.0.1'])
          expect(text + JSON.stringify([...headers])).not.toContain(secret)
    } finally {
      await lost.stop()
    }
  })
})

describe('a Redis user with few rights', () => {
  test('[EVENT-4] [PRES-3] [V38] is sufficient: neither admin nor dangerous commands are needed', async () => {
    const redis = await startRedis()
    const admin = createClient({ url: redis.url })
    await admin.connect()
    const page = readFileSync(new URL('../docs/deploying.md', import.meta.url), 'utf8')
    const [, rights = ''] = /^user lockstep (.+)$/m.exec(page) ?? []
    expect(rights).toContain('>secret')
    expect(rights).toMatch(/ -@all .* -@dangerous$/)
    await admin.sendCommand(['ACL', 'SETUSER', 'lockstep', ...rights.replace('>secret', `>${MARK}`).split(' ')])
    const url = Object.assign(new URL(redis.url), { username: 'lockstep', password: MARK }).href
    const small = await startService({ REDIS_URL: url, RATE_LIMITS: 'on' })
    const board = await small.board()
    using socket = openSocket(board.member.api, board.id)
    await socket.next('user_joined')
    const presence = () => board.owner.api.call('getPresence', { params: { board_id: board.id } })
    await eventually('the member is online', async () => (await presence()).online_users.length === 1)
    await board.owner.api.call('createColumn', { params: { board_id: board.id }, body: { title: 'New' } })
    await socket.next('column.created')
    expect(await small.anybody.call('getHealth', {})).toMatchObject({ redis: 'connected' })
    socket.terminate()
    await small.stop()
    expect(await admin.sendCommand(['ACL', 'LOG'])).toEqual([])
    admin.destroy()
  })
})
