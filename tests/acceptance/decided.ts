import { randomInt } from 'node:crypto'
import { demand, fits, same } from './demand.ts'
import { Listener } from './listener.ts'
import { heartbeat, isAbout_s } from './part-6-socket.ts'
import { type Board, type Card, Checklist, ChecklistItem, type Column, type User } from './resources.ts'
import { decided } from './rows.ts'
import { byRank, furnished, readBoard, readCard, readChecklist, upload } from './samples.ts'
import { type Caller, cast, newStage, PASSWORD, type Service } from './service.ts'
import { listOf, object, text, timestamp } from './shapes.ts'

const fresh = () => {
  const username = `user-${crypto.randomUUID().slice(0, 13)}`
  return { username, email: `${username}@example.com`, password: PASSWORD }
}
const statusOf = async (who: Caller, ...request: Parameters<Caller['send']>) => (await who.send(...request)).status

decided('U1-prefix', 'Every path is also served under /api, the socket too.', async (service) => {
  const { owner, board_id, at } = await newStage(service)
  same('the board', ((await owner.get(`/api${at()}`)) as Board).id, board_id)
  using listener = await owner.follow(board_id, { at: `${service.baseUrl}/api` })
  await owner.patch(`/api${at()}`, { title: 'New' })
  await listener.event('board.updated')
})
decided('U2-bodies', 'logout and change-password return 200 with a detail string.', async (service) => {
  const person = await service.person()
  const change = { current_password: PASSWORD, new_password: `${PASSWORD} new` }
  fits(object('a message', { detail: text }), await person.post('/auth/change-password', change), 'the response')
  fits(object('a message', { detail: text }), await person.post('/auth/logout'), 'the response')
})
decided('U2-wrong-password', 'A wrong current_password is 400.', async (service) => {
  const { owner } = await service.once(cast)
  const change = { current_password: `${PASSWORD}!`, new_password: `${PASSWORD} new` }
  await owner.rejected(400, 'POST', '/auth/change-password', change)
})
decided('U2-logout', 'Logout leaves a bearer token valid.', async (service) => {
  const person = await service.person()
  await person.post('/auth/logout')
  await person.get('/auth/me')
})
decided(
  'U3-username',
  'PATCH /auth/me changes the username; one that is taken is 409; e-mail and flags never change.',
  async (service) => {
    const [person, { owner: other }] = await Promise.all([service.person(), service.once(cast)])
    const { username } = fresh()
    const claim = { username, email: 'other@example.com', is_superuser: true }
    const changed = await person.patch<User>('/auth/me', claim)
    same('the user', [changed.username, changed.email, changed.is_superuser], [username, person.user.email, false])
    await person.rejected(409, 'PATCH', '/auth/me', { username: other.user.username })
  },
)
for (const parameter of ['search', 'q', 'query']) {
  decided(
    `U4-${parameter}`,
    `GET /users?${parameter}= finds by a part of username or e-mail address, whatever the case.`,
    async (service) => {
      const { owner } = await service.once(cast)
      for (const term of [owner.user.username.slice(3).toUpperCase(), owner.user.email.slice(4)]) {
        const found = await owner.get<User[]>(`/users?${parameter}=${encodeURIComponent(term)}`)
        same(
          'the users',
          found.map(({ id }) => id),
          [owner.id],
        )
      }
    },
  )
}
decided('U5-tick', 'An item has is_done, false at first, changed by PATCH.', async (service) => {
  const { member, todo } = await newStage(service)
  const checklist = await member.newChecklist((await member.newCard(todo)).id)
  const item = await member.newItem(checklist.id)
  same('is_done', (item as unknown as { is_done: boolean }).is_done, false)
  same('is_done', (await member.patch<{ is_done: boolean }>(`/items/${item.id}`, { is_done: true })).is_done, true)
})
decided('U5-null', 'null clears a field that may be empty, and is 422 for others.', async (service) => {
  const { member, todo } = await newStage(service)
  const { id } = await member.newCard(todo, { description: 'All of it' })
  same('the description', (await member.patch<Card>(`/cards/${id}`, { description: null })).description, null)
  await member.rejected(422, 'PATCH', `/cards/${id}`, { title: null })
})
decided('U5-nothing', 'A PATCH that changes nothing returns 200 and emits nothing.', async (service) => {
  const { owner, at, todo, board_id } = await newStage(service)
  const { id, title } = await owner.newCard(todo)
  using listener = await owner.follow(board_id)
  same('the status', await statusOf(owner, 'PATCH', `/cards/${id}`, { title }), 200)
  await owner.patch(at(), { title: 'What comes after it' })
  await listener.event('board.updated')
  same(
    'the events',
    listener.events.map(({ type }) => type),
    ['board.updated'],
  )
})
decided('U5-rank', 'Rank and parent change only through move.', async (service) => {
  const { member, todo, done } = await newStage(service)
  const { id, rank } = await member.newCard(todo)
  const card = await member.patch<Card>(`/cards/${id}`, { title: 'New', rank: rank + 5, column_id: done.id })
  same('rank and column', [card.rank, card.column_id], [rank, todo.id])
})

/** A card with two checklists, the first with two items. */
async function twoChecklists(service: Service) {
  const stage = await newStage(service)
  const { member, todo } = stage
  const { id: card_id } = await member.newCard(todo)
  const [one, two] = [await member.newChecklist(card_id), await member.newChecklist(card_id)]
  const [a, b] = [await member.newItem(one.id, 'A'), await member.newItem(one.id, 'B')]
  return { ...stage, card_id, one, two, a, b }
}
decided(
  '4.8-move-checklist',
  'POST /checklists/{checklist_id}/move takes {position} and returns the moved checklist.',
  async (service) => {
    const { member, card_id, one, two } = await twoChecklists(service)
    fits(Checklist, await member.post(`/checklists/${two.id}/move`, { position: 0 }), 'the checklist')
    same('the order', byRank((await readCard(member, card_id)).checklists), [two.id, one.id])
  },
)
decided('4.8-move-item', 'POST /items/{item_id}/move takes {position} and returns the moved item.', async (service) => {
  const { member, one, a, b } = await twoChecklists(service)
  fits(ChecklistItem, await member.post(`/items/${b.id}/move`, { position: 0 }), 'the item')
  same('the order', byRank((await readChecklist(member, one))?.items ?? []), [b.id, a.id])
})
decided(
  '4.8-move-item-checklist',
  'An item moves to another checklist of the board with checklist_id.',
  async (service) => {
    const { member, two, a } = await twoChecklists(service)
    const moved = await member.post<ChecklistItem>(`/items/${a.id}/move`, { position: 0, checklist_id: two.id })
    same('the checklist', moved.checklist_id, two.id)
  },
)
decided(
  '4.8-assign-item',
  'PUT /items/{item_id}/assignees takes {user_ids}, with the rules of cards: 404, 403, adds.',
  async (service) => {
    const { member, owner, nonMember, a } = await twoChecklists(service)
    const path = `/items/${a.id}/assignees`
    await member.put(path, { user_ids: [member.id] })
    const { assignees } = await member.put<{ assignees: User[] }>(path, { user_ids: [owner.id, member.id] })
    same('the assignees', assignees.map(({ id }) => id).sort(), [member.id, owner.id].sort())
    await member.rejected(404, 'PUT', path, { user_ids: [crypto.randomUUID()] })
    await member.rejected(403, 'PUT', path, { user_ids: [nonMember.id] })
  },
)

decided('U7-delete', 'Every DELETE returns 204 with an empty body.', async (service) => {
  const { owner, board_id, at, card_id, one, a, done } = await twoChecklists(service)
  const label = await owner.newLabel(board_id)
  await owner.post(`/cards/${card_id}/labels/${label.id}`)
  const paths = [
    `/items/${a.id}`,
    `/checklists/${one.id}`,
    `/cards/${card_id}/labels/${label.id}`,
    `/labels/${label.id}`,
    `/cards/${card_id}`,
    `/columns/${done.id}`,
    at(),
  ]
  for (const path of paths) {
    const { status, bytes } = await owner.send('DELETE', path)
    same(`DELETE ${path}`, [status, bytes.length], [204, 0])
  }
})
decided('U7-delete-attachment', 'DELETE of an attachment returns 204 with an empty body.', async (service) => {
  const { owner, todo } = await newStage(service)
  const { id } = await upload(owner, (await owner.newCard(todo)).id)
  const { status, bytes } = await owner.send('DELETE', `/attachments/${id}`)
  same('the response', [status, bytes.length], [204, 0])
})
decided('attachment-name', 'Content-Disposition of a download has the name in quotes.', async (service) => {
  const { owner, todo } = await newStage(service)
  const { id } = await upload(owner, (await owner.newCard(todo)).id, { name: 'plan.txt' })
  const { headers } = await owner.send('GET', `/attachments/${id}`)
  same('the header', headers.get('content-disposition'), 'attachment; filename="plan.txt"')
})
decided(
  'attachment-parts',
  'The file part may have any field name; two files are 422; no type given is octet-stream.',
  async (service) => {
    const { owner, todo } = await newStage(service)
    const path = `/cards/${(await owner.newCard(todo)).id}/attachments`
    const one = new FormData()
    one.append('document', new Blob(['Hello']), 'a.txt')
    same('the type', (await owner.post<{ mime_type: string }>(path, one)).mime_type, 'application/octet-stream')
    one.append('other', new Blob(['Hello']), 'b.txt')
    await owner.rejected(422, 'POST', path, one)
  },
)
decided(
  'U7-stats',
  'Label statistics list {label_id, name, color, card_count}, the most used first, zero included.',
  async (service) => {
    const { owner, board_id, todo, at } = await newStage(service)
    const [zero, used] = [await owner.newLabel(board_id, 'A'), await owner.newLabel(board_id, 'B')]
    await owner.post(`/cards/${(await owner.newCard(todo)).id}/labels/${used.id}`)
    same('the statistics', await owner.get(at('/labels/stats')), [
      { label_id: used.id, name: 'B', color: used.color, card_count: 1 },
      { label_id: zero.id, name: 'A', color: zero.color, card_count: 0 },
    ])
  },
)
decided(
  'status-201',
  'Creates return 201: board, column, card, label, checklist, item, rule, invite.',
  async (service) => {
    const { owner, member, nonMember, board_id, at, todo } = await newStage(service)
    const { id: card_id } = await owner.newCard(todo)
    const { id: checklist_id } = await owner.newChecklist(card_id)
    const rule = { name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: member.id }
    const creates: [path: string, content: object][] = [
      ['/boards', { title: 'Plan' }],
      [at('/columns'), { title: 'Doing' }],
      [`/boards/${board_id}/columns/${todo.id}/cards`, { title: 'Card' }],
      [at('/labels'), { name: 'Urgent' }],
      [`/cards/${card_id}/checklists`, { title: 'Steps' }],
      [`/checklists/${checklist_id}/items`, { content: 'One' }],
      [at('/automations'), rule],
      [at('/invite'), { user_id: nonMember.id }],
    ]
    for (const [path, content] of creates) same(`POST ${path}`, await statusOf(owner, 'POST', path, content), 201)
  },
)
decided(
  'status-401',
  'A bad credential and a failed login are 401 with WWW-Authenticate: Bearer and a detail.',
  async (service) => {
    const form = new URLSearchParams({ username: 'nobody@example.com', password: PASSWORD })
    for (const { status, headers, body } of [
      await service.anybody.send('GET', '/auth/me'),
      await service.anybody.send('POST', '/auth/login', form),
    ]) {
      same('the response', [status, headers.get('www-authenticate')], [401, 'Bearer'])
      same('the type of detail', typeof (body as { detail: unknown }).detail, 'string')
    }
  },
)
decided('bearer-first', 'A bad bearer token is 401 even beside a valid cookie.', async (service) => {
  const { owner } = await service.once(cast)
  const headers = { cookie: `svc_auth=${owner.token}`, authorization: 'Bearer garbage' }
  same('the status', (await service.anybody.send('GET', '/auth/me', undefined, headers)).status, 401)
})
decided('username-short', 'A username may have one character.', async (service) => {
  // One of 20,000 letters; another run may have taken it.
  const username = String.fromCodePoint(0x4e00 + randomInt(20_000))
  const { status } = await service.anybody.send('POST', '/auth/register', { ...fresh(), username })
  demand(status === 201 || status === 409, `the status is ${status}`)
})
decided('status-no-body', 'An absent body counts as {} where no field is required.', async (service) => {
  const { owner, todo } = await newStage(service)
  const [card, last] = [await owner.newCard(todo), await owner.newCard(todo)]
  const { rank } = await owner.post<Card>(`/cards/${card.id}/move`)
  demand(rank > last.rank, 'the card is not the last one')
  await owner.rejected(422, 'POST', '/boards')
})
decided('status-409', 'A duplicate e-mail address or username is 409.', async (service) => {
  const { email, username } = (await service.once(cast)).owner.user
  await service.anybody.rejected(409, 'POST', '/auth/register', { ...fresh(), email })
  await service.anybody.rejected(409, 'POST', '/auth/register', { ...fresh(), username })
})
decided(
  'status-404-other-board',
  'A column or label of another board is 404, and changes nothing there.',
  async (service) => {
    const [mine, other] = await Promise.all([newStage(service), newStage(service)])
    const { owner, todo, at } = mine
    const [{ id }, label] = [await owner.newCard(todo), await owner.newLabel(other.board_id)]
    await owner.rejected(404, 'POST', at(`/columns/${other.todo.id}/cards`), { title: 'Card' })
    await owner.rejected(404, 'POST', `/cards/${id}/move`, { column_id: other.todo.id, position: 0 })
    await owner.rejected(404, 'POST', `/cards/${id}/labels/${label.id}`)
    same(
      'the cards there',
      (await readBoard(owner, other.board_id)).columns.flatMap(({ cards }) => cards),
      [],
    )
  },
)
decided(
  'status-422',
  'An invalid payload is 422: detail names the field, errors lists {field, message}.',
  async (service) => {
    const { owner } = await service.once(cast)
    const { status, body } = await owner.send('POST', '/boards', { title: 5 })
    same('the status', status, 422)
    const Invalid = object('an error', {
      detail: text,
      errors: listOf(object('an error', { field: text, message: text })),
    })
    fits(Invalid, body, 'the response')
    demand(body.detail.includes('title'), `the detail names no field: ${body.detail}`)
  },
)
decided('status-code', 'Every error has a stable code beside its detail.', async (service) => {
  const { owner } = await service.once(cast)
  const { body } = await owner.send('GET', `/users/${crypto.randomUUID()}`)
  fits(object('an error', { detail: text, code: text }), body, 'the error')
})

decided(
  'order-position',
  'position is the index from 0 in the target list without the moved item; past the end is last; negative is 422.',
  async (service) => {
    const { member, todo, board_id } = await newStage(service)
    const [a, b, c] = [await member.newCard(todo), await member.newCard(todo), await member.newCard(todo)]
    const order = async () =>
      byRank((await readBoard(member, board_id)).columns.find(({ id }) => id === todo.id)?.cards ?? [])
    await member.post(`/cards/${a.id}/move`, { position: 1 })
    same('the order', await order(), [b.id, a.id, c.id])
    const d = await member.newCard(todo, { position: 2 })
    same('the order', await order(), [b.id, a.id, d.id, c.id])
    await member.rejected(422, 'POST', `/cards/${a.id}/move`, { position: -1 })
  },
)
decided('order-last', 'A card move without position places last.', async (service) => {
  const { member, todo, done } = await newStage(service)
  const [card, there] = [await member.newCard(todo), await member.newCard(done)]
  const moved = await member.post<Card>(`/cards/${card.id}/move`, { column_id: done.id })
  demand(moved.rank > there.rank, 'it is not last')
})
decided('order-after', 'after_id names the neighbour before the new place; null is first.', async (service) => {
  const { member, todo, done, board_id } = await newStage(service)
  const column = await member.newColumn(board_id, { after_id: todo.id })
  await member.post<Column>(`/columns/${done.id}/move`, { after_id: null })
  same('the order', byRank((await readBoard(member, board_id)).columns), [done.id, todo.id, column.id])
})
decided('members', 'Members are listed, promoted and removed; the last owner stays (409).', async (service) => {
  const { owner, member, at } = await newStage(service)
  const path = at(`/members/${member.id}`)
  same('the number of members', (await owner.get<unknown[]>(at('/members'))).length, 2)
  await owner.rejected(409, 'DELETE', at(`/members/${owner.id}`))
  same('the role', (await owner.patch<{ role: string }>(path, { role: 'owner' })).role, 'owner')
  await owner.delete(path)
  await member.rejected(403, 'GET', at())
})
decided('members-socket', 'The socket of a removed member is closed with 1008.', async (service) => {
  const { owner, member, at, board_id } = await newStage(service)
  using listener = await member.follow(board_id)
  await owner.delete(at(`/members/${member.id}`))
  same('the code', (await listener.end()).code, 1008)
})
decided('socket-deleted', 'After board.deleted the sockets of the board are closed with 1000.', async (service) => {
  const { owner, member, at, board_id } = await newStage(service)
  using listener = await member.follow(board_id)
  await owner.delete(at())
  same('the code', (await listener.end()).code, 1000)
  same('the last message', listener.messages.at(-1)?.type, 'board.deleted')
})
decided('socket-board', 'A socket for a board that does not exist is closed with 1008.', async (service) => {
  const { owner } = await service.once(cast)
  using listener = new Listener(service, crypto.randomUUID(), { token: owner.token })
  same('the code', (await listener.end()).code, 1008)
})
decided(
  'socket-ticket',
  'POST /auth/ticket returns a ticket that opens a socket and is no bearer.',
  async (service) => {
    const { owner, board_id } = await service.once(furnished)
    const { ticket } = await owner.post<{ ticket: string }>('/auth/ticket')
    using _ = await Listener.follow(service, board_id, { token: ticket })
    await service.anybody.refusedSomehow('GET', '/auth/me', undefined, { authorization: `Bearer ${ticket}` })
  },
)
decided('session-refresh', 'POST /auth/refresh returns a new token for a valid one.', async (service) => {
  const { owner } = await service.once(cast)
  fits(object('a token', { access_token: text, token_type: text }), await owner.post('/auth/refresh'), 'the response')
})
decided('cookie-form', 'Login sets the cookie when the form says cookie=true.', async (service) => {
  const { owner } = await service.once(cast)
  const form = new URLSearchParams({ username: owner.user.email, password: PASSWORD, cookie: 'true' })
  const { headers } = await service.anybody.send('POST', '/auth/login', form)
  demand(
    headers.getSetCookie().some((line) => line.startsWith('svc_auth=')),
    'no cookie is set',
  )
})
decided('health-fields', 'Health returns status ok, database connected and redis connected.', async ({ anybody }) => {
  same('the health', await anybody.get('/health'), { status: 'ok', database: 'connected', redis: 'connected' })
})
decided('write-id', 'A create accepts an id; one that is taken is 409.', async (service) => {
  const { owner, at } = await newStage(service)
  const id = crypto.randomUUID()
  same('the id', (await owner.post<Column>(at('/columns'), { id, title: 'Doing' })).id, id)
  await owner.rejected(409, 'POST', at('/columns'), { id, title: 'Doing' })
})
decided(
  'write-idempotency',
  'A write that is sent again with its Idempotency-Key is answered as the first time, and has no second effect.',
  async (service) => {
    const { owner, at, board_id } = await newStage(service)
    const again = () => owner.send('POST', at('/columns'), { title: 'Doing' }, { 'idempotency-key': `key-${board_id}` })
    const [first, second] = [await again(), await again()]
    same('the response', [second.status, second.body], [first.status, first.body])
    same('Idempotent-Replayed', second.headers.get('idempotent-replayed'), 'true')
    same('the number of columns', (await readBoard(owner, board_id)).columns.length, 3)
  },
)
decided('write-position', 'Every write on a board returns Board-Position.', async (service) => {
  const { owner, at } = await newStage(service)
  const { headers } = await owner.send('PATCH', at(), { title: 'New' })
  demand(/^\d+\.\d+$/.test(headers.get('board-position') ?? ''), `it is ${headers.get('board-position')}`)
})
decided(
  'socket-first-ping',
  'The first ping comes 30 seconds after the connect, and none in the first 25.',
  async (service) => {
    const [seconds = 0] = (await service.once(heartbeat)).secondsUntilPing
    demand(seconds > 25, `the first ping comes after ${seconds.toFixed(1)} s`)
    isAbout_s('the time from connect to ping', seconds, 30)
  },
  { waits: true },
)
decided(
  'socket-own-ping',
  'A connection is pinged 30 seconds after its own connect, whenever others connected to the board.',
  async (service) => {
    const [, seconds = 0] = (await service.once(heartbeat)).secondsUntilPing
    isAbout_s('the time from the later connect to its first ping', seconds, 30)
  },
  { waits: true },
)
decided(
  'socket-4408',
  'Without a pong the socket is closed with 4408.',
  async (service) => {
    const { member, board_id } = await newStage(service)
    using listener = await member.follow(board_id, { pongs: false })
    same('the code', (await listener.end(60_000)).code, 4408)
  },
  { waits: true },
)

decided('U9-number', 'The cards of a board are numbered from 1, and no number is used twice.', async (service) => {
  const { member, todo } = await newStage(service)
  type Numbered = Card & { number: number }
  const [one, two] = [(await member.newCard(todo)) as Numbered, (await member.newCard(todo)) as Numbered]
  same('the numbers', [one.number, two.number], [1, 2])
  await member.send('DELETE', `/cards/${two.id}`)
  same('the next number', ((await member.newCard(todo)) as Numbered).number, 3)
})
decided('U9-due', 'A card has a due date: a calendar day or null, changed by PATCH.', async (service) => {
  const { member, todo } = await newStage(service)
  type Dated = Card & { due_on: string | null }
  const card = (await member.newCard(todo)) as Dated
  same('at first', card.due_on, null)
  same('set', (await member.patch<Dated>(`/cards/${card.id}`, { due_on: '2026-03-29' })).due_on, '2026-03-29')
  same('cleared', (await member.patch<Dated>(`/cards/${card.id}`, { due_on: null })).due_on, null)
  for (const due_on of ['2026-02-30', '2026-03-29T00:00:00.000Z', 20260329])
    await member.rejected(422, 'PATCH', `/cards/${card.id}`, { due_on })
})
decided(
  'U9-comments',
  'Members comment on a card, which counts them; only the author changes a comment, the author or an owner deletes it.',
  async (service) => {
    const { owner, member, todo } = await newStage(service)
    type Counted = Card & { comment_count: number }
    interface Written {
      id: string
      body: string
      author: User
      edited_at: string | null
    }
    const card = (await member.newCard(todo)) as Counted
    same('at first', card.comment_count, 0)
    const written = await member.post<Written>(`/cards/${card.id}/comments`, { body: 'Hello' })
    same('the comment', [written.body, written.author.id, written.edited_at], ['Hello', member.user.id, null])
    same('the count', ((await readCard(owner, card.id)) as Counted).comment_count, 1)
    await owner.rejected(403, 'PATCH', `/comments/${written.id}`, { body: 'Other' })
    await member.patch(`/comments/${written.id}`, { body: 'Hello!' })
    const [listed] = await owner.get<Written[]>(`/cards/${card.id}/comments`)
    same('the list', [listed?.id, listed?.body], [written.id, 'Hello!'])
    await owner.delete(`/comments/${written.id}`)
    same('the count at the end', ((await readCard(owner, card.id)) as Counted).comment_count, 0)
  },
)
decided('U9-comment-events', 'A socket of the specification hears nothing of comments.', async (service) => {
  const { member, todo, board_id } = await newStage(service)
  const card = await member.newCard(todo)
  using listener = await member.follow(board_id)
  await member.post(`/cards/${card.id}/comments`, { body: 'Hello' })
  await member.patch(`/cards/${card.id}`, { title: 'New' })
  await listener.event('card.updated')
  same(
    'the kinds',
    listener.events.map(({ type }) => type),
    ['card.updated'],
  )
})
decided(
  'U9-history',
  'The history of a card lists its events, newest first, also after its deletion.',
  async (service) => {
    const { member, todo, at } = await newStage(service)
    const card = await member.newCard(todo)
    await member.patch(`/cards/${card.id}`, { title: 'New' })
    await member.post(`/cards/${card.id}/comments`, { body: 'Hello' })
    await member.delete(`/cards/${card.id}`)
    const history = await member.get<{ type: string; user_id: string }[]>(at(`/cards/${card.id}/events`))
    same(
      'the kinds',
      history.map(({ type }) => type),
      ['card.deleted', 'comment.created', 'card.updated', 'card.created'],
    )
    same('the author', new Set(history.map(({ user_id }) => user_id)).size, 1)
  },
)

interface RemovedItem {
  id: string
  removed: { as: string; until: string | null }
}
const removedOf = (who: Caller, at: (path: string) => string) => who.get<RemovedItem[]>(at('/removed'))
for (const [as, method, path] of [
  ['archived', 'POST', (id: string) => `/cards/${id}/archive`],
  ['deleted', 'DELETE', (id: string) => `/cards/${id}`],
] as const)
  decided(
    `U10-${as}`,
    `A card that was ${as} is announced as card.deleted, is listed, and comes back with card.created.`,
    async (service) => {
      const { member, owner, at, todo, board_id } = await newStage(service)
      const { id } = await member.newCard(todo)
      await upload(member, id)
      const card = await readCard(member, id)
      using listener = await owner.follow(board_id)
      await member.send(method, path(id))
      same('the removed card', ((await listener.event('card.deleted')).data as Card).id, id)
      await member.rejected(404, 'GET', `/cards/${id}`)
      const [item] = await removedOf(member, at)
      same('the list', [item?.id, item?.removed.as, item?.removed.until === null], [id, as, as === 'archived'])
      same('the kept card', (await member.get<{ card: Card }>(at(`/removed/${id}`))).card, card)
      const { card: back } = await member.post<{ card: Card }>(at(`/removed/${id}/restore`), {})
      same('the restored card', { ...back, rank: 0 }, { ...card, rank: 0 })
      same('the event', (await listener.event('card.created')).data, back)
      same('the list', await removedOf(member, at), [])
      await member.rejected(404, 'POST', at(`/removed/${id}/restore`), {})
    },
  )
decided(
  'U10-column',
  'A column is archived or deleted with its cards, and comes back with them and with one event.',
  async (service) => {
    const { member, owner, at, todo, board_id } = await newStage(service)
    const { id } = await member.newCard(todo)
    using listener = await owner.follow(board_id)
    for (const remove of [
      () => member.post(`/columns/${todo.id}/archive`),
      () => member.send('DELETE', `/columns/${todo.id}`),
    ]) {
      await remove()
      await listener.event('column.deleted')
      same('the number of columns', (await readBoard(member, board_id)).columns.length, 1)
      const { column } = await member.post<{ column: Column }>(at(`/removed/${todo.id}/restore`), {})
      same('its cards', byRank(column.cards), [id])
      same('the event', (await listener.event('column.created')).data, column)
    }
  },
)
decided(
  'U10-homeless',
  'A card whose column is gone is restored to a given column; without one it is 409.',
  async (service) => {
    const { member, at, todo, done } = await newStage(service)
    const { id } = await member.newCard(todo)
    await member.post(`/cards/${id}/archive`)
    await member.delete(`/columns/${todo.id}`)
    await member.rejected(409, 'POST', at(`/removed/${id}/restore`), {})
    const { card } = await member.post<{ card: Card }>(at(`/removed/${id}/restore`), { column_id: done.id })
    same('its column', card.column_id, done.id)
  },
)
decided('U10-purge', 'Only an owner deletes an archived or deleted card for good.', async (service) => {
  const { owner, member, at, todo } = await newStage(service)
  const { id } = await member.newCard(todo)
  await member.delete(`/cards/${id}`)
  await member.rejected(403, 'DELETE', at(`/removed/${id}`))
  await owner.delete(at(`/removed/${id}`))
  await owner.rejected(404, 'GET', at(`/removed/${id}`))
})
decided(
  'U10-board',
  'An owner archives a board. Then it can be read, and changes are 409 until an owner restores it.',
  async (service) => {
    const { owner, member, at, todo, board_id } = await newStage(service)
    const { id } = await member.newCard(todo)
    using listener = await member.follow(board_id)
    await member.rejected(403, 'POST', at('/archive'))
    const { archived_at } = await owner.post<{ archived_at: unknown }>(at('/archive'))
    fits(timestamp, archived_at, 'archived_at')
    same('the event', (await listener.event('board.updated')).data['archived_at'], archived_at)
    same('the cards', (await readCard(member, id)).id, id)
    const listed = async (archived: boolean) =>
      (await owner.get<Board[]>(`/boards?archived=${archived}`)).some((board) => board.id === board_id)
    same('the lists', [await listed(true), await listed(false)], [true, false])
    await member.rejected(409, 'PATCH', `/cards/${id}`, { title: 'New' })
    await owner.rejected(409, 'PATCH', at(), { title: 'New' })
    await owner.post(at('/restore'))
    await member.patch(`/cards/${id}`, { title: 'New' })
  },
)
