import { randomUUID } from 'node:crypto'
import type { Card } from '@lockstep/contract/cards'
import { type Comment, mentionedIds } from '@lockstep/contract/comments'
import type { ApiResponse } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let owner: TestUser
let member: TestUser
let card: Card
beforeAll(async () => {
  service = await startService({ QUOTAS: 'on' })
  board = await service.board()
  ;({ owner, member } = board)
})
afterAll(() => service.stop())

const addCard = (): Promise<Card> =>
  member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title: 'Card' },
  })
beforeEach(async () => {
  card = await addCard()
})

const readCard = () => owner.api.call('getCard', { params: { card_id: card.id } })
const comment = (body: string, { api }: TestUser = member) =>
  api.call('createComment', { params: { card_id: card.id }, body: { body } })
const edit = ({ id }: Comment, body: string, { api }: TestUser = member) =>
  api.send('updateComment', { params: { comment_id: id }, body: { body } })
const remove = ({ id }: Comment, { api }: TestUser = member) =>
  api.send('deleteComment', { params: { comment_id: id } })
const mention = ({ id }: { id: string }, name = 'Ada Lovelace') => `@[${name}](user:${id})`
const codeOf = ({ status, body }: ApiResponse) => [status, (body as { code?: string }).code]

describe('a comment', () => {
  test('[COMMENT-1] of a member grows the count of its card, and leaves its time', async () => {
    const { response, events } = await recordEvents(board, () =>
      member.api.send('createComment', { params: { card_id: card.id }, body: { body: ' **Hello** \n' } }),
    )
    const made = response.body as Comment
    expect(response.status).toBe(201)
    expect(made).toEqual({
      id: expect.any(String),
      card_id: card.id,
      author: await member.api.call('getMe', {}),
      body: ' **Hello** \n',
      mentions: [],
      created_at: expect.any(String),
      edited_at: null,
    })
    expect(events).toMatchObject([{ type: 'comment.created', user_id: member.id, data: { ...made, comment_count: 1 } }])
    expect(await readCard()).toEqual({ ...card, comment_count: 1 })
    const { columns } = await owner.api.call('getBoard', { params: { board_id: board.id } })
    expect(columns[0]?.cards.at(-1)).toEqual({ ...card, comment_count: 1 })
    await comment('Another', owner)
    expect((await readCard()).comment_count).toBe(2)
    const moved = await owner.api.call('moveCard', { params: { card_id: card.id }, body: { position: 0 } })
    expect(moved.comment_count).toBe(2)
  })

  test('[COMMENT-1] has 1 to 16,384 characters, and belongs to a card of the board', async () => {
    const send = (body: unknown, card_id = card.id) =>
      member.api.request('POST', `/cards/${card_id}/comments`, { json: { body } })
    for (const body of ['', ' \n ', 'x'.repeat(16_385), 'a\0', 5, null]) expect((await send(body)).status).toBe(422)
    expect((await send('x'.repeat(16_384))).status).toBe(201)
    expect(codeOf(await send('Hello', randomUUID()))).toEqual([404, 'card_not_found'])
    const nonMember = await service.user()
    const params = { card_id: card.id }
    for (const rejected of [
      await nonMember.api.send('createComment', { params, body: { body: 'Hello' } }),
      await nonMember.api.send('listComments', { params }),
    ])
      expect(codeOf(rejected)).toEqual([403, 'not_a_member'])
    expect((await readCard()).comment_count).toBe(1)
  })

  test('[COMMENT-1] [WRITE-2] [WRITE-3] is made once with the same key, and once with the same id', async () => {
    const [id, key] = [randomUUID(), randomUUID()]
    const send = (body: string, headers = {}) =>
      member.api.send('createComment', { params: { card_id: card.id }, body: { id, body }, headers })
    const twice = await Promise.all([1, 2].map(() => send('Once', { 'idempotency-key': key })))
    expect(twice.map(({ status, text }) => [status, text])).toEqual([
      [201, twice[0]?.text],
      [201, twice[0]?.text],
    ])
    expect(twice[0]?.body).toMatchObject({ id })
    expect(codeOf(await send('Twice'))).toEqual([409, 'id_taken'])
    expect((await readCard()).comment_count).toBe(1)
  })

  test('[COMMENT-2] is changed by its author only; the same text again changes nothing', async () => {
    const made = await comment('Frist')
    expect(codeOf(await edit(made, 'Words of others', owner))).toEqual([403, 'not_the_author'])
    const { response, events } = await recordEvents(board, () => edit(made, 'First'))
    const changed = response.body as Comment
    expect(changed).toEqual({ ...made, body: 'First', edited_at: expect.any(String) })
    expect(Date.parse(changed.edited_at ?? '')).toBeGreaterThanOrEqual(Date.parse(made.created_at))
    expect(events).toMatchObject([
      { type: 'comment.updated', user_id: member.id, data: { ...changed, comment_count: 1 } },
    ])
    for (const body of [{ body: 'First' }, {}]) {
      const again = await recordEvents(board, () =>
        member.api.send('updateComment', { params: { comment_id: made.id }, body }),
      )
      expect([again.response.body, again.events]).toEqual([changed, []])
    }
    expect((await readCard()).updated_at).toBe(card.updated_at)
  })

  test('[COMMENT-3] is deleted by its author or an owner, and by nobody else', async () => {
    const third = await service.user()
    await owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: third.id } })
    const [one, two] = [await comment('One'), await comment('Two')]
    expect(codeOf(await remove(one, third))).toEqual([403, 'role_too_low'])
    const byAuthor = await recordEvents(board, () => remove(one))
    expect(byAuthor.response.status).toBe(204)
    expect(byAuthor.events).toMatchObject([
      { type: 'comment.deleted', user_id: member.id, data: { ...one, comment_count: 1 } },
    ])
    const byOwner = await recordEvents(board, () => remove(two, owner))
    expect(byOwner.events).toMatchObject([
      { type: 'comment.deleted', user_id: owner.id, data: { ...two, comment_count: 0 } },
    ])
    expect(codeOf(await remove(two, owner))).toEqual([404, 'comment_not_found'])
    expect((await readCard()).comment_count).toBe(0)
    await owner.api.call('removeMember', { params: { board_id: board.id, user_id: third.id } })
  })

  test('[COMMENT-6] stays when its author leaves the board, who can then neither change nor delete it', async () => {
    const author = await service.user()
    const params = { board_id: board.id }
    await owner.api.call('inviteMember', { params, body: { user_id: author.id } })
    const made = await comment(`By ${mention(author)}`, author)
    expect(made.mentions.map(({ id }) => id)).toEqual([author.id])
    await owner.api.call('removeMember', { params: { ...params, user_id: author.id } })
    const [listed] = await owner.api.call('listComments', { params: { card_id: card.id } })
    expect(listed).toEqual({ ...made, mentions: [] })
    expect(codeOf(await edit(made, 'Other', author))).toEqual([403, 'not_a_member'])
    expect(codeOf(await remove(made, author))).toEqual([403, 'not_a_member'])
    expect((await remove(made, owner)).status).toBe(204)
  })

  test('[COMMENT-6] leaves the board with its card, and is deleted for good with it', async () => {
    const made = await comment('Soon gone')
    await owner.api.call('deleteCard', { params: { card_id: card.id } })
    expect(codeOf(await edit(made, 'Other'))).toEqual([404, 'comment_not_found'])
    await owner.api.call('purgeRemoved', { params: { board_id: board.id, removed_id: card.id } })
    const { rows } = await service.sql.query('select from comments where card_id = $1', [card.id])
    expect(rows).toEqual([])
  })

  test('[COMMENT-7] triggers no automation rule', async () => {
    const params = { board_id: board.id }
    const rule = await owner.api.call('createRule', {
      params,
      body: { name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: owner.id },
    })
    const { events } = await recordEvents(board, () =>
      member.api.send('createComment', { params: { card_id: card.id }, body: { body: 'Hello' } }),
    )
    expect(events.map(({ type }) => type)).toEqual(['comment.created'])
    expect(await owner.api.call('listRuns', { params })).toEqual([])
    await owner.api.call('deleteRule', { params: { rule_id: rule.id } })
  })

  test('[QUOTA-2] [QUOTA-9] its text counts, in every view, until it or its card is deleted', async () => {
    const usage = async () => {
      const { rows } = await service.sql.query<Record<string, number>>(
        `select stream.text_bytes::int as counted, board.text_bytes::int as board,
           (select text_bytes from card_usage where id = $2)::int as card,
           (select text_bytes from column_usage where id = $3)::int as "column"
         from board_stream stream join board_usage board using (board_id) where board_id = $1`,
        [board.id, card.id, board.columns[0].id],
      )
      const { counted, board: recounted, ...others } = rows[0] as Record<string, number>
      expect(counted).toBe(recounted)
      return { counted, ...others }
    }
    const before = await usage()
    const made = await comment('é"\n')
    // 200 bytes for the object, and the text as JSON.
    const grown = (bytes: number) => Object.fromEntries(Object.entries(before).map(([k, v]) => [k, (v ?? 0) + bytes]))
    expect(await usage()).toEqual(grown(208))
    await edit(made, 'x'.repeat(1_000))
    expect(await usage()).toEqual(grown(1_202))
    await remove(made)
    expect(await usage()).toEqual(before)
    await comment('Gone with the card')
    await owner.api.call('deleteCard', { params: { card_id: card.id } })
    await usage()
  })

  test('[READ-1] [READ-4] has an ETag, which a change must match', async () => {
    const first = await member.api.send('createComment', { params: { card_id: card.id }, body: { body: 'One' } })
    const made = first.body as Comment
    const ifMatch = (etag: string | null) => ({ headers: { 'if-match': etag ?? '' } })
    const params = { comment_id: made.id }
    const etag = first.headers.get('etag')
    const changed = await member.api.send('updateComment', { params, body: { body: 'Two' }, ...ifMatch(etag) })
    expect(changed.status).toBe(200)
    const late = await member.api.send('deleteComment', { params, ...ifMatch(etag) })
    expect([late.status, (late.body as { current?: unknown }).current]).toEqual([412, changed.body])
  })
})

describe('mentions', () => {
  test('[COMMENT-5] members are listed in the order of the text, each once; others are only text', async () => {
    const nonMember = await service.user()
    const body = [
      mention(owner, 'O'),
      mention(nonMember),
      mention(member),
      mention({ id: randomUUID() }),
      mention(owner),
    ]
    const made = await comment(body.join(' '))
    expect(made.body).toBe(body.join(' '))
    expect(made.mentions.map(({ id }) => id)).toEqual([owner.id, member.id])
    const changed = (await edit(made, `Only ${mention(member)}`)).body as Comment
    expect(changed.mentions).toEqual([await member.api.call('getMe', {})])
  })

  test('[COMMENT-5] of more than 50 different users, the first 50 count', async () => {
    const others = (n: number) => Array.from({ length: n }, () => mention({ id: randomUUID() }))
    const made = await comment([...others(49), mention(owner), mention(member)].join(' '))
    expect(made.mentions.map(({ id }) => id)).toEqual([owner.id])
    const changed = (await edit(made, [...others(50), mention(owner), mention(member)].join(' '))).body as Comment
    expect(changed.mentions).toEqual([])
  })

  test('[COMMENT-5] the ids of a text are read by one function', () => {
    const [a, b] = [randomUUID(), randomUUID()]
    expect(mentionedIds(`${mention({ id: a })}, @[x](user:${b.toUpperCase()}) ${mention({ id: a })}`)).toEqual([a, b])
    const many = Array.from({ length: 60 }, () => randomUUID())
    expect(mentionedIds(many.map((id) => mention({ id })).join(''))).toEqual(many)
    const none = [`@[](user:${a})`, `@[a\nb](user:${a})`, `@[a[b]](user:${a})`, '@[a](user:5)', `[a](user:${a})`]
    for (const text of [...none, `@[a] (user:${a})`, `@[${'x'.repeat(256)}](user:${a})`])
      expect([text, mentionedIds(text)]).toEqual([text, []])
  })

  test('[COMMENT-5] hostile texts are read in linear time', () => {
    const started = performance.now()
    for (const part of ['@[', '@[a](', '@[a](user:', '@', '@[a]', `@[${'a'.repeat(250)}`])
      expect(mentionedIds(part.repeat(16_384 / part.length))).toEqual([])
    expect(performance.now() - started).toBeLessThan(200)
  })
})

describe('the list', () => {
  const pages = async (limit: number, between?: () => Promise<unknown>) => {
    const all: Comment[][] = []
    for (let path: string | undefined = `/cards/${card.id}/comments?limit=${limit}`; path; ) {
      const { status, body, headers } = await member.api.request('GET', path)
      expect(status).toBe(200)
      all.push(body as Comment[])
      await between?.()
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    return all
  }

  test('[COMMENT-4] has pages, newest first, and shows each comment once while others come and go', async () => {
    const made: Comment[] = []
    for (let n = 0; n < 65; n++) made.push(await comment(`Comment ${n}`))
    const newest = made.toReversed()
    const byTime = (a: Comment, b: Comment) => b.created_at.localeCompare(a.created_at) || (a.id < b.id ? 1 : -1)
    expect(newest.toSorted(byTime)).toEqual(newest)
    const found = await pages(30)
    expect(found.map(({ length }) => length)).toEqual([30, 30, 5])
    expect(found.flat()).toEqual(newest)
    // The last comment of a page is deleted, and a newer one written, before the next page is read.
    const changing = await pages(20, async () => {
      await comment('Newer')
      const [gone] = made.splice(45 - 1, 1)
      if (gone) await remove(gone)
    })
    const ids = changing.flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => made.some((each) => each.id === id))).toEqual(
      newest.filter((each) => made.includes(each)).map(({ id }) => id),
    )
  })

  test('[COMMENT-4] orders comments of the same millisecond by their ids', async () => {
    for (let n = 0; n < 5; n++) await comment('Same time')
    await service.sql.query('update comments set created_at = now() where card_id = $1', [card.id])
    const ids = (await pages(2)).flat().map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted().reverse())
    expect(ids).toHaveLength(5)
  })

  test('[COMMENT-4] ends a page with the comment that fills 1 MiB', async () => {
    const large = '€'.repeat(16_384)
    await service.sql.query(
      `insert into comments (board_id, id, card_id, author_id, body, created_at)
       select $1, gen_random_uuid(), $2, $3, $4, now() + n * interval '1 second' from generate_series(1, 50) n`,
      [board.id, card.id, member.id, large],
    )
    const found = await pages(100)
    expect(found.map(({ length }) => length)).toEqual([22, 22, 6])
  })

  test('[COMMENT-4] rejects a cursor or limit of another form', async () => {
    for (const query of ['cursor=5', `cursor=${randomUUID()}`, 'cursor=', 'limit=0', 'limit=101'])
      expect((await member.api.request('GET', `/cards/${card.id}/comments?${query}`)).status).toBe(422)
    const newest = `cursor=999999999999999_${randomUUID()}`
    expect((await member.api.request('GET', `/cards/${card.id}/comments?${newest}`)).body).toEqual([])
  })
})

test('[COMPAT-3] [COMPAT-5] sockets hear of comments only if they count events', async () => {
  const counting = openSocket(owner.api, board.id, { seq: true })
  const plain = openSocket(owner.api, board.id)
  await Promise.all([counting.next('user_joined'), plain.next('user_joined')])
  const made = await comment('One')
  await edit(made, 'Two')
  await remove(made)
  await owner.api.call('updateCard', { params: { card_id: card.id }, body: { title: 'Last' } })
  await Promise.all([counting.next('card.updated'), plain.next('card.updated')])
  expect(plain.events.map(({ type }) => type)).toEqual(['card.updated'])
  expect(Object.keys(plain.events[0] ?? {})).toEqual(['type', 'data', 'user_id', 'timestamp', 'version'])
  expect(counting.events.map(({ type }) => type)).toEqual([
    ...['comment.created', 'comment.updated', 'comment.deleted'],
    'card.updated',
  ])
  const [first = 0] = counting.events.map(({ seq }) => seq)
  expect(counting.events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3].map((n) => first + n))
  // One that reads missed events from the log, too.
  const resumed = openSocket(owner.api, board.id, { since: `1.${first - 1}` })
  await resumed.next('card.updated')
  expect(resumed.events).toEqual(counting.events)
  for (const socket of [counting, plain, resumed]) socket.terminate()
})

test('[TOKEN-2] the author needs the scope write to change and delete a comment', async () => {
  const { token } = await member.api.call('createToken', { body: { name: 'Bot', scope: 'write' } })
  const { token: reading } = await member.api.call('createToken', { body: { name: 'Bot', scope: 'read' } })
  const made = await comment('One')
  const send = (as: string, method: 'PATCH' | 'DELETE', json?: object) =>
    service.anybody.request(method, `/comments/${made.id}`, {
      headers: { authorization: `Bearer ${as}` },
      ...(json && { json }),
    })
  expect(codeOf(await send(reading, 'DELETE'))).toEqual([403, 'token_scope'])
  expect((await send(token, 'PATCH', { body: 'Two' })).status).toBe(200)
  expect((await send(token, 'DELETE')).status).toBe(204)
})
