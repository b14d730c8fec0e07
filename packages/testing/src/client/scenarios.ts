import {
  type BoardEvent,
  createClient,
  type ErrorCode,
  isLockstepError,
  type LockstepError,
} from '../../../client/src/index.ts'
import { assert, equal, fail, lockstepError, rejectionOf, sleep } from './assertions.ts'
import { liveScenarios } from './live-scenarios.ts'
import { faulty, loggedIn, newBoard, open, type ScenarioContext } from './scenario-clients.ts'

export { wakeScenario } from './live-scenarios.ts'
export { closeAll, type ScenarioContext } from './scenario-clients.ts'

/** Scenarios without dependencies on Node or a test runner, so that they run wherever the client does. */
export const scenarios: Record<string, (context: ScenarioContext) => Promise<void>> = {
  ...liveScenarios,

  '[SDK-1] every operation can be called': async ({ baseUrl, calls: walk }) => {
    for (const { name, input, token, isEmpty } of walk) {
      // Strict: the service knows every input.
      const client = open({ baseUrl, token, maxTries: 1, strict: true })
      const given = typeof input['file'] === 'string' ? { ...input, file: new Blob([input['file']]) } : input
      const method = client[name] as (input: unknown) => Promise<unknown>
      const data = await method(given).catch((error: unknown) => fail(`${name}: ${String(error)}`))
      equal([name, data === undefined], [name, isEmpty])
      client.close()
    }
  },

  '[SDK-1] path, query and body inputs are in one object, and the result is plain data': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const card = await client.createCard({ board_id, column_id, title: 'Ä & ? / #', description: null })
    equal(card.title, 'Ä & ? / #')
    const found = await client.findUsers({ search: context.email, limit: 1 })
    equal(
      found.map((user) => user.email),
      [context.email],
    )
    equal(await client.deleteCard({ card_id: card.id }), undefined)
    const error = await rejectionOf(client.getCard({ card_id: '' }))
    equal(String(error), 'TypeError: getCard needs card_id')
  },

  '[SDK-3] an error has its status, code, detail, fields and request id': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const error = await lockstepError(client.createCard({ board_id, column_id, title: '' }), 'invalid_input')
    equal([error.name, error.status, error.errors.map(({ field }) => field)], ['LockstepError', 422, ['title']])
    assert(error.detail.includes('title'), error.detail)
    equal([error.operation, error.message], ['createCard', `createCard: ${error.detail} (invalid_input)`])
    assert(/\w{3,}/.test(error.requestId ?? ''), `request id ${error.requestId}`)
    assert(isLockstepError(error) && !isLockstepError(error, 'not_found', 'internal'), 'isLockstepError compares codes')
    const anonymous = open({ baseUrl: context.baseUrl })
    await lockstepError(anonymous.login({ username: context.email, password: 'wrong' }), 'login_failed')
    await lockstepError(anonymous.listBoards(), 'not_authenticated')
  },

  '[SDK-3] a change with an outdated ETag is rejected with the current state': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'One' })
    const { etag = '' } = await client.request('getCard', { card_id })
    await client.updateCard({ card_id, title: 'Two' }, { ifMatch: etag })
    const error = await lockstepError(
      client.updateCard({ card_id, title: 'Three' }, { ifMatch: etag }),
      'precondition_failed',
    )
    equal((error.current as { title: string }).title, 'Two')
  },

  '[SDK-3] a lost connection and a response of another service have their own codes': async (context) => {
    const nowhere = open({ baseUrl: 'http://127.0.0.1:9', maxTries: 2 })
    const unreachable = await lockstepError(nowhere.getHealth(), 'network_failed')
    equal(unreachable.status, 0)
    assert(unreachable.message.endsWith(`(network_failed, ${nowhere.baseUrl}/health)`), unreachable.message)
    const { client } = faulty(context, 'gateway', 9)
    equal((await lockstepError(client.getHealth({}, { maxTries: 1 }), 'unexpected_response')).status, 502)
  },

  '[SDK-4] a read is retried after a lost response, a 502 of a gateway, and a 503 after its Retry-After': async (
    context,
  ) => {
    for (const fault of ['lose', 'gateway', 'busy'] as const) {
      const { client, seen } = faulty(context, fault, 1)
      const started = Date.now()
      equal((await client.getHealth()).status, 'ok')
      assert((await seen()).length === 2, `${fault}: sent ${(await seen()).length} times`)
      assert(fault !== 'busy' || Date.now() - started >= 1000, 'waited for Retry-After')
    }
  },

  '[SDK-4] retries stop at the maximum, and immediately if Retry-After exceeds the timeout': async (context) => {
    const { client, seen } = faulty(context, 'gateway', 9)
    await lockstepError(client.getHealth({}, { maxTries: 3 }), 'unexpected_response')
    equal((await seen()).length, 3)
    const limited = faulty(context, 'limited', 9)
    const started = Date.now()
    const error = await lockstepError(limited.client.getHealth(), 'too_many_requests')
    equal([error.retryAfterSeconds, (await limited.seen()).length], [60, 1])
    assert(Date.now() - started < 2000, 'failed immediately')
  },

  '[SDK-4] a request that is not safe to repeat is sent once': async (context) => {
    const { client, seen } = faulty(context, 'busy', 1)
    await lockstepError(client.login({ username: context.email, password: context.password }), 'board_busy')
    equal((await seen()).length, 1)
  },

  '[SDK-5] a create whose response was lost creates one card, and the response is marked as a replay': async (
    context,
  ) => {
    const { client, board_id, column_id } = await newBoard(context)
    const lossy = faulty(context, 'lose', 2, client.session.token)
    const { data, isReplay } = await lossy.client.request('createCard', {
      board_id,
      column_id,
      title: 'Once',
    })
    equal(isReplay, true)
    const keys = (await lossy.seen()).map(({ key }) => key)
    assert(keys.length >= 3 && new Set(keys).size === 1 && (keys[0]?.length ?? 0) >= 16, `keys ${keys.join()}`)
    const { columns } = await client.getBoard({ board_id })
    equal(
      columns.flatMap((column) => column.cards.map((card) => card.id)),
      [data.id],
    )
    // A repeated delete must not fail because of its own effect.
    await faulty(context, 'lose', 1, client.session.token).client.deleteCard({ card_id: data.id })
  },

  '[SDK-5] every write has its own idempotency key, or the given one': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const { client: watched, seen } = faulty(context, 'none', 0, client.session.token)
    await watched.createCard({ board_id, column_id, title: 'One' })
    await watched.createCard({ board_id, column_id, title: 'Two' })
    const idempotencyKey = `mine-${board_id}`
    await watched.createCard({ board_id, column_id, title: 'Three' }, { idempotencyKey })
    await watched.getBoard({ board_id })
    const keys = (await seen()).map(({ key }) => key)
    equal([new Set(keys).size, keys[2], keys[3]], [4, idempotencyKey, undefined])
  },

  '[SDK-6] a signal aborts a call before it starts, in flight, and between two attempts': async (context) => {
    const reason = new Error('changed my mind')
    const aborted = AbortSignal.abort(reason)
    equal(await rejectionOf(open(context).getHealth({}, { signal: aborted })), reason)
    for (const fault of ['hang', 'limited'] as const) {
      const { client } = faulty(context, fault, 9)
      const controller = new AbortController()
      setTimeout(() => controller.abort(reason), 100)
      const started = Date.now()
      const options = { signal: controller.signal, timeoutMs: 90_000 }
      equal(await rejectionOf(client.getHealth({}, options)), reason)
      assert(Date.now() - started < 5_000, 'aborted immediately')
    }
  },

  '[SDK-6] an attempt that hangs is retried, and the call times out at its own limit': async (context) => {
    const once = faulty(context, 'hang', 1)
    equal((await once.client.getHealth({}, { tryTimeoutMs: 1_000 })).status, 'ok')
    const always = faulty(context, 'hang', 9)
    const started = Date.now()
    await lockstepError(always.client.getHealth({}, { timeoutMs: 600, tryTimeoutMs: 400 }), 'timed_out')
    assert(Date.now() - started < 5_000, 'timed out in time')
  },

  '[SDK-7] a session is renewed once for all callers, and reports its new token': async ({
    baseUrl,
    email,
    password,
  }) => {
    const tokens: (string | undefined)[] = []
    const client = open({ baseUrl, onToken: (token) => tokens.push(token) })
    await client.login({ username: email, password })
    assert((client.session.expiresAt ?? 0) > Date.now(), 'knows its expiry')
    await Promise.all([client.session.renew(), client.session.renew(), client.session.renew()])
    equal([tokens.length, tokens.at(-1)], [2, client.session.token])
    equal((await client.getMe()).email, email)
    await client.logout()
    equal([client.session.token, tokens.at(-1)], [undefined, undefined])
  },

  '[SDK-7] the end of a session is reported once, and later calls are rejected': async ({ baseUrl, password }) => {
    const username = `user-${crypto.randomUUID()}`
    const email = `${username}@example.com`
    await open({ baseUrl }).register({ username, email, password })
    const ends: LockstepError[] = []
    const client = open({ baseUrl, onSessionEnd: (error) => ends.push(error) })
    await client.login({ username: email, password })
    const elsewhere = open({ baseUrl })
    await elsewhere.login({ username: email, password })
    await elsewhere.logoutEverywhere()
    const results = await Promise.all([1, 2, 3].map(() => rejectionOf(client.getMe())))
    assert(
      results.every((error) => isLockstepError(error, 'not_authenticated')),
      String(results),
    )
    equal([ends.length, ends[0]?.code, client.session.token], [1, 'not_authenticated', undefined])
    await client.login({ username: email, password })
    equal((await client.getMe()).email, email)
  },

  '[SDK-7] a call rejected with a replaced token is sent again with the new one': async (context) => {
    const client = await loggedIn(context)
    const good = client.session.token
    let isFirst = true
    const late = open({
      baseUrl: context.baseUrl,
      token: 'stale',
      fetch: async (...request) => {
        const response = await fetch(...request)
        if (isFirst) late.session.setToken(good)
        isFirst = false
        return response
      },
    })
    equal((await late.getMe()).email, context.email)
  },

  '[SDK-7] a renewal that completes after logout is ignored': async ({ baseUrl, email, password }) => {
    let tell = () => {}
    const isRenewed = new Promise<void>((resolve) => {
      tell = resolve
    })
    let release = () => {}
    const isLoggedOut = new Promise<void>((resolve) => {
      release = resolve
    })
    const late: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!response.url.endsWith('/auth/refresh')) return response
      tell()
      await isLoggedOut
      return response
    }
    const client = open({ baseUrl, fetch: late })
    await client.login({ username: email, password })
    const renewal = client.session.renew()
    await isRenewed
    await client.logout()
    release()
    await renewal
    equal([client.session.token, client.session.expiresAt], [undefined, undefined])
  },

  '[SDK-9] a response has the board position and ETag, and says if nothing has changed': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const written = await client.request('createCard', { board_id, column_id, title: 'One' })
    const read = await client.request('getBoard', { board_id })
    equal([written.status, written.isReplay, written.position], [201, false, read.position])
    assert(/^\d+\.\d+$/.test(read.position ?? ''), `position ${read.position}`)
    const again = await client.request('getBoard', { board_id }, { ifNoneMatch: read.etag ?? '' })
    equal([again.isModified, again.status, again.data], [false, 304, undefined])
    await client.updateBoard({ board_id, title: 'Other' })
    const changed = await client.request('getBoard', { board_id }, { ifNoneMatch: read.etag ?? '' })
    equal(changed.isModified && changed.data.title, 'Other')
  },

  '[SDK-10] an upload reports its progress, and a download is a Blob with the same bytes': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) % 251)
    const reported: number[] = []
    let total = 0
    const file = new File([bytes], 'Übersicht 1.bin', { type: 'application/x-thing' })
    const onProgress = (progress: { sentBytes: number; totalBytes: number }) => {
      reported.push(progress.sentBytes)
      total = progress.totalBytes
    }
    const attachment = await client.createAttachment({ card_id, file }, { onProgress })
    equal([attachment.name, attachment.mime_type, attachment.size], [file.name, file.type, bytes.length])
    assert(reported.at(-1) === total && total >= bytes.length, `${reported.length} reports, ${total}`)
    assert(
      reported.every((sent, i) => sent >= (reported[i - 1] ?? 0)),
      'progress never goes back',
    )
    const downloaded = await client.getAttachment({ attachment_id: attachment.id })
    equal(downloaded.type, file.type)
    const same = new Uint8Array(await downloaded.arrayBuffer())
    assert(same.length === bytes.length && same.every((byte, i) => byte === bytes[i]), 'the same bytes')
    const plain = await client.createAttachment({ card_id, file: new Blob(['x']), id: crypto.randomUUID() })
    equal(plain.size, 1)
  },

  '[SDK-10] an upload whose response was lost is stored once, and an upload can be aborted': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
    const { client: lossy } = faulty(context, 'lose', 1, client.session.token)
    await lossy.createAttachment({ card_id, file: new Blob(['x'.repeat(100_000)]) }, { onProgress: () => {} })
    equal((await client.getCard({ card_id })).attachments.length, 1)
    const { client: hanging } = faulty(context, 'hang', 9, client.session.token)
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 200)
    const options = { signal: controller.signal, onProgress: () => {} }
    equal(
      String(await rejectionOf(hanging.createAttachment({ card_id, file: new Blob(['x']) }, options))),
      'Error: enough',
    )
  },

  '[SDK-18] a strict client has unknown fields rejected': async (context) => {
    const other = await loggedIn(context)
    const misspelled = { title: 'Plan', descripton: 'x' }
    equal((await other.createBoard(misspelled)).title, 'Plan')
    const preferences: string[] = []
    const client = open({
      baseUrl: context.baseUrl,
      token: other.session.token,
      strict: true,
      fetch: (url, init) => {
        const headers = new Headers(init?.headers)
        preferences.push(`${headers.has('idempotency-key') ? 'write' : 'read'} ${headers.get('prefer')}`)
        return fetch(url, init)
      },
    })
    const error = await lockstepError(client.createBoard(misspelled), 'unknown_field')
    equal(
      error.errors.map(({ field }) => field),
      ['descripton'],
    )
    equal((await client.createBoard(misspelled, { strict: false })).title, 'Plan')
    equal(preferences, ['write handling=strict', 'write null'])
  },

  '[SDK-11] the pages of a list that is whole without limit': async (context) => {
    const { client, board_id } = await newBoard(context)
    for (const name of ['A', 'B', 'C']) await client.createLabel({ board_id, name })
    const sizes: number[] = []
    for await (const page of client.pages('listLabels', { board_id, limit: 2 })) sizes.push(page.length)
    for await (const page of client.pages('listLabels', { board_id })) sizes.push(page.length)
    equal(sizes, [2, 1, 3])
    const boards: string[] = []
    for await (const page of client.pages('listBoards')) boards.push(...page.map(({ id }) => id))
    equal(boards.includes(board_id), true)
  },

  '[SDK-11] pages are iterated to the end': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    for (let i = 0; i < 6; i++) await client.createCard({ board_id, column_id, title: `Card ${i}` })
    const pages: BoardEvent[][] = []
    for await (const page of client.pages('listEvents', { board_id, limit: 3 })) pages.push(page)
    equal(
      pages.map((page) => page.map((event) => event.seq)),
      [[1, 2, 3], [4, 5, 6], [7]],
    )
    const titles = pages.flat().flatMap((event) => (event.type === 'card.created' ? [event.data.title] : []))
    equal(titles, ['Card 0', 'Card 1', 'Card 2', 'Card 3', 'Card 4', 'Card 5'])
    // Stopping early sends no further requests.
    for await (const page of client.pages('listEvents', { board_id, limit: 1 })) {
      equal(page.length, 1)
      break
    }
  },
}

/** The progress values reported during an upload. */
export async function progressOfUpload(context: ScenarioContext): Promise<number[]> {
  const { client, board_id, column_id } = await newBoard(context)
  const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
  const reported: number[] = []
  const options = { onProgress: ({ sentBytes }: { sentBytes: number }) => reported.push(sentBytes) }
  await client.createAttachment({ card_id, file: new Blob([new Uint8Array(1_000_000)]) }, options)
  return reported
}

/** Runs in a browser on a page of the service, the only place where its cookie is stored. */
export async function cookieScenario({ email, password }: ScenarioContext): Promise<void> {
  const ends: ErrorCode[] = []
  const client = createClient({ baseUrl: '', auth: 'cookie', onSessionEnd: ({ code }) => ends.push(code) })
  await lockstepError(client.getMe(), 'not_authenticated')
  await client.login({ username: email, password })
  equal([client.session.token, (client.session.expiresAt ?? 0) > Date.now()], [undefined, true])
  await client.createBoard({ title: 'With a cookie' })
  client.close()

  // A reloaded page has the cookie, and learns its expiry by renewing it.
  const reloaded = createClient({ baseUrl: '', auth: 'cookie', onSessionEnd: ({ code }) => ends.push(code) })
  equal((await reloaded.getMe()).email, email)
  for (let i = 0; i < 50 && reloaded.session.expiresAt === undefined; i++) await sleep(50)
  assert((reloaded.session.expiresAt ?? 0) > Date.now(), 'knows its expiry')
  await client.logout()
  await lockstepError(reloaded.getMe(), 'not_authenticated')
  equal(ends, ['not_authenticated'])
}
