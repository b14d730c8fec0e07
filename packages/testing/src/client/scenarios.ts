import {
  type BoardEvent,
  createClient,
  type ErrorCode,
  isLockstepError,
  type LockstepError,
} from '../../../client/src/index.ts'
import { caught, equal, fail, failure, sleep, truth } from './expectations.ts'
import { liveScenarios } from './live-scenarios.ts'
import { faulty, loggedIn, newBoard, open, type Setting } from './scenario-clients.ts'

export { wakeScenario } from './live-scenarios.ts'
export { closeAll, type Setting } from './scenario-clients.ts'

/** Ways to use the client, without anything of Node or of a test runner: they run wherever the client does. */
export const scenarios: Record<string, (setting: Setting) => Promise<void>> = {
  ...liveScenarios,

  '[SDK-1] every operation can be called': async ({ base_url, walk }) => {
    for (const { name, input, token } of walk) {
      const client = open({ base_url, token, max_tries: 1 })
      const given = typeof input['file'] === 'string' ? { ...input, file: new Blob([input['file']]) } : input
      const method = client[name] as (input: unknown) => Promise<unknown>
      const data = await method(given).catch((error: unknown) => fail(`${name}: ${String(error)}`))
      const isEmpty = /^(delete|remove|unassign|erase)/.test(name)
      equal([name, data === undefined], [name, isEmpty])
      client.close()
    }
  },

  '[SDK-1] inputs of path, query and body stand together, and the answer is plain data': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const card = await client.createCard({ board_id, column_id, title: 'Ä & ? / #', description: null })
    equal(card.title, 'Ä & ? / #')
    const found = await client.findUsers({ search: setting.email, limit: 1 })
    equal(
      found.map((user) => user.email),
      [setting.email],
    )
    equal(await client.deleteCard({ card_id: card.id }), undefined)
    const error = await caught(client.getCard({ card_id: '' }))
    equal(String(error), 'TypeError: getCard needs card_id')
  },

  '[SDK-3] a problem has its status, code, sentence, fields and request id': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const error = await failure(client.createCard({ board_id, column_id, title: '' }), 'invalid_input')
    equal([error.name, error.status, error.errors.map(({ field }) => field)], ['LockstepError', 422, ['title']])
    truth(error.detail === error.message && error.detail.includes('title'), error.detail)
    truth(/\w{3,}/.test(error.request_id ?? ''), `request id ${error.request_id}`)
    truth(isLockstepError(error) && !isLockstepError(error, 'not_found', 'internal'), 'the guard knows codes')
    const stranger = open({ base_url: setting.base_url })
    await failure(stranger.login({ username: setting.email, password: 'wrong' }), 'login_failed')
    await failure(stranger.listBoards(), 'not_authenticated')
  },

  '[SDK-3] a change on an old state is refused with how it is now': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'One' })
    const { etag = '' } = await client.request('getCard', { card_id })
    await client.updateCard({ card_id, title: 'Two' }, { if_match: etag })
    const error = await failure(
      client.updateCard({ card_id, title: 'Three' }, { if_match: etag }),
      'precondition_failed',
    )
    equal((error.current as { title: string }).title, 'Two')
  },

  '[SDK-3] no connection, and an answer that is not the service’s, have codes of their own': async (setting) => {
    const nowhere = open({ base_url: 'http://127.0.0.1:9', max_tries: 2 })
    equal((await failure(nowhere.getHealth(), 'network_failed')).status, 0)
    const { client } = faulty(setting, 'gateway', 9)
    equal((await failure(client.getHealth({}, { max_tries: 1 }), 'unexpected_answer')).status, 502)
  },

  '[SDK-4] a read is tried again after a lost answer, a gateway’s 502, and 503 when its Retry-After is over': async (
    setting,
  ) => {
    for (const fault of ['lose', 'gateway', 'busy'] as const) {
      const { client, seen } = faulty(setting, fault, 1)
      const started = Date.now()
      equal((await client.getHealth()).status, 'ok')
      truth((await seen()).length === 2, `${fault}: sent ${(await seen()).length} times`)
      truth(fault !== 'busy' || Date.now() - started >= 1000, 'waited as long as it was told')
    }
  },

  '[SDK-4] tries end after their number, and at once when the wait would be longer than the call may take': async (
    setting,
  ) => {
    const { client, seen } = faulty(setting, 'gateway', 9)
    await failure(client.getHealth({}, { max_tries: 3 }), 'unexpected_answer')
    equal((await seen()).length, 3)
    const limited = faulty(setting, 'limited', 9)
    const started = Date.now()
    const error = await failure(limited.client.getHealth(), 'too_many_requests')
    equal([error.retry_after_seconds, (await limited.seen()).length], [60, 1])
    truth(Date.now() - started < 2000, 'did not wait')
  },

  '[SDK-4] what is not safe to repeat is sent once': async (setting) => {
    const { client, seen } = faulty(setting, 'busy', 1)
    await failure(client.login({ username: setting.email, password: setting.password }), 'board_busy')
    equal((await seen()).length, 1)
  },

  '[SDK-5] the lost answer of a create leads to one card, and the answer says that it is a repetition': async (
    setting,
  ) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const lossy = faulty(setting, 'lose', 2, client.session.token)
    const { data, is_replay } = await lossy.client.request('createCard', { board_id, column_id, title: 'Once' })
    equal(is_replay, true)
    const keys = (await lossy.seen()).map(({ key }) => key)
    truth(keys.length >= 3 && new Set(keys).size === 1 && (keys[0]?.length ?? 0) >= 16, `keys ${keys.join()}`)
    const { columns } = await client.getBoard({ board_id })
    equal(
      columns.flatMap((column) => column.cards.map((card) => card.id)),
      [data.id],
    )
    // A delete that is repeated must not meet its own effect.
    await faulty(setting, 'lose', 1, client.session.token).client.deleteCard({ card_id: data.id })
  },

  '[SDK-5] every write has a key of its own, or the one that it is given': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const { client: watched, seen } = faulty(setting, 'none', 0, client.session.token)
    await watched.createCard({ board_id, column_id, title: 'One' })
    await watched.createCard({ board_id, column_id, title: 'Two' })
    const idempotency_key = `mine-${board_id}`
    await watched.createCard({ board_id, column_id, title: 'Three' }, { idempotency_key })
    await watched.getBoard({ board_id })
    const keys = (await seen()).map(({ key }) => key)
    equal([new Set(keys).size, keys[2], keys[3]], [4, idempotency_key, undefined])
  },

  '[SDK-6] a signal ends a call before it starts, under way, and between two tries': async (setting) => {
    const reason = new Error('changed my mind')
    const aborted = AbortSignal.abort(reason)
    equal(await caught(open(setting).getHealth({}, { signal: aborted })), reason)
    for (const fault of ['hang', 'limited'] as const) {
      const { client } = faulty(setting, fault, 9)
      const controller = new AbortController()
      setTimeout(() => controller.abort(reason), 100)
      const started = Date.now()
      const options = { signal: controller.signal, timeout_ms: 90_000 }
      equal(await caught(client.getHealth({}, options)), reason)
      truth(Date.now() - started < 2000, 'ended at once')
    }
  },

  '[SDK-6] a try that hangs is given up for the next one, and a call for good': async (setting) => {
    const once = faulty(setting, 'hang', 1)
    equal((await once.client.getHealth({}, { try_timeout_ms: 300 })).status, 'ok')
    const always = faulty(setting, 'hang', 9)
    const started = Date.now()
    await failure(always.client.getHealth({}, { timeout_ms: 600, try_timeout_ms: 400 }), 'timed_out')
    truth(Date.now() - started < 2000, 'ended in time')
  },

  '[SDK-7] a session renews itself before it ends, once, and tells its new token': async ({
    short_url,
    email,
    password,
  }) => {
    const tokens: (string | undefined)[] = []
    const client = open({ base_url: short_url, onToken: (token) => tokens.push(token) })
    await client.login({ username: email, password })
    truth((client.session.expires_at ?? 0) > Date.now(), 'knows its end')
    await Promise.all([client.session.renew(), client.session.renew(), client.session.renew()])
    equal(tokens.length, 2)
    await sleep(7000)
    truth(tokens.length >= 3 && tokens.at(-1) === client.session.token, `told ${tokens.length} tokens`)
    equal((await client.getMe()).email, email)
    await client.logout()
    equal([client.session.token, tokens.at(-1)], [undefined, undefined])
  },

  '[SDK-7] a token that runs out before a call is renewed first': async ({ short_url, email, password }) => {
    const client = open({ base_url: short_url })
    const { access_token } = await client.login({ username: email, password })
    // Without its timer: a page that slept.
    client.close()
    await sleep(3300)
    equal((await client.getMe()).email, email)
    truth(client.session.token !== access_token, 'there is another token')
    client.close()
  },

  '[SDK-7] the end of a session is told once, and later calls fail as they should': async ({
    short_url,
    email,
    password,
  }) => {
    const ends: LockstepError[] = []
    const client = open({ base_url: short_url, onSessionEnd: (error) => ends.push(error) })
    await client.login({ username: email, password })
    client.close()
    await sleep(5500)
    const results = await Promise.all([1, 2, 3].map(() => caught(client.getMe())))
    truth(
      results.every((error) => isLockstepError(error, 'not_authenticated')),
      String(results),
    )
    equal([ends.length, ends[0]?.code, client.session.token], [1, 'not_authenticated', undefined])
    await client.login({ username: email, password })
    equal((await client.getMe()).email, email)
    client.close()
  },

  '[SDK-7] a call that was refused with a replaced token is sent again with the new one': async (setting) => {
    const client = await loggedIn(setting)
    const good = client.session.token
    let isFirst = true
    const late = open({
      base_url: setting.base_url,
      token: 'stale',
      fetch: async (...request) => {
        const response = await fetch(...request)
        if (isFirst) late.session.setToken(good)
        isFirst = false
        return response
      },
    })
    equal((await late.getMe()).email, setting.email)
  },

  '[SDK-7] a renewal that is answered after the logout brings nothing back': async ({ base_url, email, password }) => {
    const late: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (response.url.endsWith('/auth/refresh')) await sleep(500)
      return response
    }
    const client = open({ base_url, fetch: late })
    await client.login({ username: email, password })
    const renewal = client.session.renew()
    await sleep(100)
    await client.logout()
    await renewal
    equal([client.session.token, client.session.expires_at], [undefined, undefined])
  },

  '[SDK-9] an answer tells the position of the board, its state, and when nothing has changed': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const written = await client.request('createCard', { board_id, column_id, title: 'One' })
    const read = await client.request('getBoard', { board_id })
    equal([written.status, written.is_replay, written.position], [201, false, read.position])
    truth(/^\d+\.\d+$/.test(read.position ?? ''), `position ${read.position}`)
    const again = await client.request('getBoard', { board_id }, { if_none_match: read.etag ?? '' })
    equal([again.is_modified, again.status, again.data], [false, 304, undefined])
    await client.updateBoard({ board_id, title: 'Other' })
    const changed = await client.request('getBoard', { board_id }, { if_none_match: read.etag ?? '' })
    equal(changed.is_modified && changed.data.title, 'Other')
  },

  '[SDK-10] an upload tells its progress, and a download is a Blob with the same bytes': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) % 251)
    const told: number[] = []
    let total = 0
    const file = new File([bytes], 'Übersicht 1.bin', { type: 'application/x-thing' })
    const onProgress = (progress: { sent_bytes: number; total_bytes: number }) => {
      told.push(progress.sent_bytes)
      total = progress.total_bytes
    }
    const attachment = await client.createAttachment({ card_id, file }, { onProgress })
    equal([attachment.name, attachment.mime_type, attachment.size], [file.name, file.type, bytes.length])
    truth(told.at(-1) === total && total >= bytes.length, `told ${told.length} times, ${total}`)
    truth(
      told.every((sent, i) => sent >= (told[i - 1] ?? 0)),
      'progress never goes back',
    )
    const downloaded = await client.getAttachment({ attachment_id: attachment.id })
    equal(downloaded.type, file.type)
    const same = new Uint8Array(await downloaded.arrayBuffer())
    truth(same.length === bytes.length && same.every((byte, i) => byte === bytes[i]), 'the same bytes')
    const plain = await client.createAttachment({ card_id, file: new Blob(['x']), id: crypto.randomUUID() })
    equal(plain.size, 1)
  },

  '[SDK-10] an upload whose answer was lost is there once, and one that is no longer wanted ends': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
    const { client: lossy } = faulty(setting, 'lose', 1, client.session.token)
    await lossy.createAttachment({ card_id, file: new Blob(['x'.repeat(100_000)]) }, { onProgress: () => {} })
    equal((await client.getCard({ card_id })).attachments.length, 1)
    const { client: hanging } = faulty(setting, 'hang', 9, client.session.token)
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 200)
    const options = { signal: controller.signal, onProgress: () => {} }
    equal(String(await caught(hanging.createAttachment({ card_id, file: new Blob(['x']) }, options))), 'Error: enough')
  },

  '[SDK-11] pages follow one another to the end': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    for (let i = 0; i < 6; i++) await client.createCard({ board_id, column_id, title: `Card ${i}` })
    const pages: BoardEvent[][] = []
    for await (const page of client.pages('listEvents', { board_id, limit: 3 })) pages.push(page)
    equal(
      pages.map((page) => page.map((event) => event.seq)),
      [[1, 2, 3], [4, 5, 6], [7]],
    )
    const titles = pages.flat().flatMap((event) => (event.type === 'card.created' ? [event.data.title] : []))
    equal(titles, ['Card 0', 'Card 1', 'Card 2', 'Card 3', 'Card 4', 'Card 5'])
    // Whoever stops early asks for no more.
    for await (const page of client.pages('listEvents', { board_id, limit: 1 })) {
      equal(page.length, 1)
      break
    }
  },
}

/** How much of an upload was told to be on its way, each time that it was told. */
export async function progressOfUpload(setting: Setting): Promise<number[]> {
  const { client, board_id, column_id } = await newBoard(setting)
  const { id: card_id } = await client.createCard({ board_id, column_id, title: 'Files' })
  const told: number[] = []
  const options = { onProgress: ({ sent_bytes }: { sent_bytes: number }) => told.push(sent_bytes) }
  await client.createAttachment({ card_id, file: new Blob([new Uint8Array(1_000_000)]) }, options)
  return told
}

/** In a browser, on a page of the service itself: the one place where its cookie is kept. */
export async function cookieScenario({ email, password }: Setting): Promise<void> {
  const ends: ErrorCode[] = []
  const client = createClient({ base_url: '', auth: 'cookie', onSessionEnd: ({ code }) => ends.push(code) })
  await failure(client.getMe(), 'not_authenticated')
  await client.login({ username: email, password })
  equal([client.session.token, (client.session.expires_at ?? 0) > Date.now()], [undefined, true])
  await client.createBoard({ title: 'With a cookie' })
  client.close()

  // A page that is loaded again finds the cookie, and learns its time by renewing it.
  const reloaded = createClient({ base_url: '', auth: 'cookie', onSessionEnd: ({ code }) => ends.push(code) })
  equal((await reloaded.getMe()).email, email)
  for (let i = 0; i < 50 && reloaded.session.expires_at === undefined; i++) await sleep(50)
  truth((reloaded.session.expires_at ?? 0) > Date.now(), 'knows its end')
  await client.logout()
  await failure(reloaded.getMe(), 'not_authenticated')
  equal(ends, ['not_authenticated'])
}
