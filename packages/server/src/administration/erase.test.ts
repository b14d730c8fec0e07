import { holdBoard } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let root: TestUser
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  root = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
})
afterAll(() => service.stop())

/** Distinct names, one of which contains the characters that could break a search or a replacement. */
const firstnameOf = ({ username }: TestUser) => `Zebulon${username}`
const lastnameOf = ({ username }: TestUser) => `Quacken${username}"}{\\bush`
// The address and both names contain the username, which is unique.
const needles = ({ username }: TestUser) => [username]

/** Every table with a row that contains one of the words, in any column. */
async function tablesWith(words: string[]): Promise<string[]> {
  const { rows } = await service.sql.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' order by tablename`,
  )
  const found: string[] = []
  for (const { tablename } of rows) {
    const { rowCount } = await service.sql.query(
      `select from "${tablename}" t where exists (select from unnest($1::text[]) word where strpos(lower(t::text), lower(word)) > 0) limit 1`,
      [words],
    )
    if (rowCount !== 0) found.push(tablename)
  }
  return found
}

/** A user with a full name, on every kind of board. */
async function createUserWithBoards() {
  const target = await service.user(`zeb-${crypto.randomUUID().slice(0, 8)}`)
  await target.api.call('updateMe', { body: { firstname: firstnameOf(target), lastname: lastnameOf(target) } })
  const friends: [TestUser, TestUser] = [await service.user(), await service.user()]
  const alone = await target.api.call('createBoard', { body: { title: 'Alone' } })
  const owned = await target.api.call('createBoard', { body: { title: 'Owned' } })
  const params = { board_id: owned.id }
  for (const { id } of friends) await target.api.call('inviteMember', { params, body: { user_id: id } })
  const column = await target.api.call('createColumn', { params, body: { title: 'Column' } })
  const card = await target.api.call('createCard', {
    params: { ...params, column_id: column.id },
    body: { title: 'Card' },
  })
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const user_ids = [target.id, friends[0].id]
  await friends[0].api.call('assignCard', { params: { card_id: card.id }, body: { user_ids }, headers })
  const list = await target.api.call('createChecklist', { params: { card_id: card.id }, body: { title: 'List' } })
  const item = await target.api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'Item' } })
  await target.api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [target.id] } })
  const file = await target.api.call('createAttachment', {
    params: { card_id: card.id },
    body: { file: new Blob(['x']) },
  })
  const mention = `@[${firstnameOf(target)} ${lastnameOf(target)}](user:${target.id.toUpperCase()})`
  const comments = [
    await target.api.call('createComment', { params: { card_id: card.id }, body: { body: 'Mine' } }),
    await friends[0].api.call('createComment', {
      params: { card_id: card.id },
      body: { body: `Hello ${mention}, ${mention}!` },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }),
  ] as const
  const rule = await target.api.call('createRule', {
    params,
    body: { name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: target.id },
    headers: { 'idempotency-key': crypto.randomUUID() },
  })
  const [joined, left] = [await service.board(), await service.board()]
  for (const { id, owner } of [joined, left])
    await owner.api.call('inviteMember', { params: { board_id: id }, body: { user_id: target.id } })
  await target.api.call('removeMember', { params: { board_id: left.id, user_id: target.id } })
  return { target, friends, alone, owned, card, item, file, comments, rule, joined, left }
}
const erase = ({ id }: TestUser) => root.api.call('eraseAccount', { params: { user_id: id } })
const eventsOf = (viewer: TestUser, board_id: string) =>
  viewer.api.call('listEvents', { params: { board_id }, query: { limit: 500 } })
const positionOf = async (viewer: TestUser, board_id: string) => {
  const { headers } = await viewer.api.send('getBoard', { params: { board_id } })
  return (headers.get('board-position') ?? '').split('.').map(Number) as [number, number]
}

describe('an export', () => {
  test('[ADMIN-8] contains all data about a user, and is recorded', async () => {
    const { target, alone, owned, card, item, file, comments, rule, joined } = await createUserWithBoards()
    const params = { user_id: target.id }
    const { profile, ...found } = await root.api.call('exportAccount', { params })
    expect(profile).toMatchObject({
      email: target.email,
      username: target.username,
      firstname: firstnameOf(target),
      lastname: lastnameOf(target),
    })
    expect(found.memberships.map(({ board_id, role }) => [board_id, role])).toEqual([
      [alone.id, 'owner'],
      [owned.id, 'owner'],
      [joined.id, 'member'],
    ])
    expect(found.boards_created.map(({ id }) => id)).toEqual([alone.id, owned.id].sort())
    expect(found.cards_assigned).toEqual([
      { board_id: owned.id, id: card.id, title: 'Card', description: null, due_on: null },
    ])
    expect(found.items_assigned.map(({ id }) => id)).toEqual([item.id])
    expect(found.automation_rules).toEqual([{ board_id: owned.id, id: rule.id, name: 'Rule' }])
    expect(found.attachments).toMatchObject([{ id: file.id, card_id: card.id, size: 1 }])
    const { id, body, created_at } = comments[0]
    expect(found.comments).toEqual([{ board_id: owned.id, id, card_id: card.id, body, created_at, edited_at: null }])
    expect(found.inbox).toMatchObject([
      { reason: 'mentioned', board_id: owned.id, card_id: card.id, read_at: null },
      { reason: 'added', board_id: joined.id, card_id: null, read_at: null },
    ])
    expect(found.changes).toContainEqual(expect.objectContaining({ type: 'card.created', id: card.id }))
    expect(found.stored_responses).toHaveLength(1)
    expect(found.audit).toEqual([])
    expect((await root.api.call('exportAccount', { params })).audit).toMatchObject([{ action: 'export' }])
  })
})

describe('erasing', () => {
  test('[ADMIN-9] [ADMIN-10] [ADMIN-11] leaves no name in any table, and consistent boards', async () => {
    const { target, friends, alone, owned, card, joined, left } = await createUserWithBoards()
    const [heir] = friends
    // Check that the search finds the user before the erasure.
    expect(await tablesWith(needles(target))).toEqual(['board_events', 'comments', 'stored_responses', 'users'])
    const before = await eventsOf(heir, owned.id)
    const [epoch] = await positionOf(heir, owned.id)
    const watching = openSocket(heir.api, owned.id, { seq: true })
    const targetSocket = openSocket(target.api, joined.id)
    await Promise.all([watching.next('user_joined'), targetSocket.next('user_joined')])

    await erase(target)
    expect(await tablesWith(needles(target))).toEqual([])
    const items = await service.sql.query('select from inbox_items where user_id = $1', [target.id])
    expect(items.rowCount).toBe(0)

    // A client on the board receives the removal, and then starts a new epoch.
    await watching.next('resync')
    const seen = watching.events.map(({ type, user_id }) => [type, user_id])
    expect(seen).toEqual([
      ['board.updated', null],
      ['card.unassigned', null],
      ['checklist_item.unassigned', null],
      ['board.member_removed', null],
    ])
    expect((await targetSocket.closed).code).toBe(1008)
    watching.terminate()

    // Every earlier event keeps its number and its content except the name.
    const after = await eventsOf(heir, owned.id)
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, i) => i + 1))
    const nameless = (text: string) =>
      text
        .replaceAll(/\{"id":"[^"]+","email":.*?"is_superuser":\w+\}/g, '{}')
        .replaceAll(/@\[[^\]]+\]\(user:[^)]+\)/g, '@')
    expect(after.slice(0, before.length).map((event) => nameless(JSON.stringify(event)))).toEqual(
      before.map((event) => nameless(JSON.stringify(event))),
    )
    expect((await positionOf(heir, owned.id))[0]).toBeGreaterThan(epoch)

    const board = await heir.api.call('getBoard', { params: { board_id: owned.id } })
    expect(board.members.map(({ user_id, role }) => [user_id, role])).toEqual([
      [heir.id, 'owner'],
      [friends[1].id, 'member'],
    ])
    expect(board.created_by).toBe(target.id)
    const [written, own] = await heir.api.call('listComments', { params: { card_id: card.id } })
    const nobody = `@[erased user](user:${target.id})`
    expect([written?.body, written?.mentions]).toEqual([`Hello ${nobody}, ${nobody}!`, []])
    expect([own?.body, own?.author]).toMatchObject(['Mine', { id: target.id, firstname: null, is_active: false }])
    expect((await heir.api.call('getCard', { params: { card_id: card.id } })).assignees.map(({ id }) => id)).toEqual([
      heir.id,
    ])
    const [rule] = await heir.api.call('listRules', { params: { board_id: owned.id } })
    expect(rule?.action_user_id).toBeNull()
    const { rowCount } = await service.sql.query('select from boards where id = $1', [alone.id])
    expect(rowCount).toBe(0)
    for (const { id, owner } of [joined, left] satisfies TestBoard[])
      expect((await owner.api.call('listMembers', { params: { board_id: id } })).map((m) => m.user_id)).not.toContain(
        target.id,
      )
  })

  test('[ADMIN-9] [ADMIN-14] deactivates the account permanently, and frees its address and name', async () => {
    const { target } = await createUserWithBoards()
    await erase(target)
    expect((await target.api.send('getMe', {})).status).toBe(401)
    expect((await service.anybody.send('login', { body: { username: target.email, password: PASSWORD } })).status).toBe(
      401,
    )
    const params = { user_id: target.id }
    const shown = await root.api.call('getAccount', { params })
    expect(shown).toMatchObject({ firstname: null, lastname: null, is_active: false, erased_at: expect.any(String) })
    const login = { username: shown.email, password: '' }
    expect((await service.anybody.send('login', { body: login })).status).toBe(401)
    for (const problem of [
      await root.api.fail('updateAccount', { params, body: { is_active: true } }),
      await root.api.fail('resetPassword', { params, body: { new_password: PASSWORD } }),
    ])
      expect(problem).toMatchObject({ status: 409, code: 'user_erased' })
    const again = await service.user(target.username)
    expect([again.email, again.id === target.id]).toEqual([target.email, false])
    // Only the fact of the erasure remains.
    const { profile, memberships, changes } = await root.api.call('exportAccount', { params })
    expect([profile, memberships, changes]).toEqual([shown, [], []])
  })

  test('[ADMIN-9] [ADMIN-11] also changes the event of a change that is under way on a former board', async () => {
    const { target, left } = await createUserWithBoards()
    const author = await target.api.call('getMe', {})
    const body = JSON.stringify({ type: 'comment.updated', data: { author } })
    const changing = await service.sql.connect()
    await changing.query('begin')
    await changing.query('update board_stream set last_seq = last_seq + 1 where board_id = $1', [left.id])
    await changing.query(
      `insert into board_events (board_id, seq, created_at, type, body)
       select board_id, last_seq, now(), 'comment.updated', $2 from board_stream where board_id = $1`,
      [left.id, body],
    )
    const erasing = erase(target)
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%' and datname = current_database()`
    await expect.poll(async () => (await service.sql.query(waiting)).rowCount).toBe(1)
    await changing.query('commit')
    changing.release()
    await erasing
    expect(await tablesWith(needles(target))).toEqual([])
  })

  test('[ADMIN-11] [ADMIN-12] is completed by a second run after an interruption', async () => {
    const { target, owned } = await createUserWithBoards()
    {
      await using _held = await holdBoard(service.sql, owned.id)
      expect(await root.api.fail('eraseAccount', { params: { user_id: target.id } })).toMatchObject({
        code: 'board_busy',
      })
      // After the first step, nobody can log in to the account.
      expect((await target.api.send('getMe', {})).status).toBe(401)
    }
    expect(await tablesWith(needles(target))).not.toEqual([])
    await erase(target)
    expect(await tablesWith(needles(target))).toEqual([])
    const { rows } = await service.sql.query(
      'select action, details from admin_actions where target_id = $1 order by id',
      [target.id],
    )
    expect(rows.map(({ action }) => action)).toEqual(['erase', 'erased'])
    expect(rows[1]?.details).toMatchObject({ boards_handed_over: 1 })
    expect((await service.sql.query('select from board_members where user_id = $1', [target.id])).rowCount).toBe(0)
  })

  test('[ADMIN-9] finds comments on boards that the user left so long ago that the log has forgotten it', async () => {
    const { target, friends, owned, card, comments } = await createUserWithBoards()
    await target.api.call('updateMember', {
      params: { board_id: owned.id, user_id: friends[0].id },
      body: { role: 'owner' },
    })
    await target.api.call('removeMember', { params: { board_id: owned.id, user_id: target.id } })
    await service.sql.query('delete from board_events where board_id = $1', [owned.id])
    // These events name the author, and somebody who is mentioned, after both have left.
    const mention = `@[${firstnameOf(target)}](user:${target.id})`
    const [friend] = friends
    const later = await friend.api.call('createComment', { params: { card_id: card.id }, body: { body: mention } })
    for (const { id } of [comments[0], later]) await friend.api.call('deleteComment', { params: { comment_id: id } })
    await erase(target)
    expect(await tablesWith(needles(target))).toEqual([])
    const { rows } = await service.sql.query(
      'select from board_stream join board_usage usage using (board_id) where board_id = $1 and board_stream.text_bytes = usage.text_bytes',
      [owned.id],
    )
    expect(rows).toHaveLength(1)
  })

  test('[ADMIN-9] replaces the name also in a comment that mentions 50 others before', async () => {
    const { target, friends, owned, card } = await createUserWithBoards()
    const [friend] = friends
    const others = Array.from({ length: 60 }, () => `@[x](user:${crypto.randomUUID()})`).join('')
    const params = { board_id: owned.id, user_id: friend.id }
    await target.api.call('updateMember', { params, body: { role: 'owner' } })
    await target.api.call('removeMember', { params: { ...params, user_id: target.id } })
    // Nothing else on the board names the user.
    await service.sql.query('delete from board_events where board_id = $1', [owned.id])
    await service.sql.query('delete from comments where board_id = $1', [owned.id])
    const body = (name: string) => `${others} @[${name}](user:${target.id})`
    const made = await friend.api.call('createComment', {
      params: { card_id: card.id },
      body: { body: body(lastnameOf(target)) },
    })
    await erase(target)
    const [shown] = await friend.api.call('listComments', { params: { card_id: made.card_id } })
    expect(shown?.body).toBe(body('erased user'))
    expect(await tablesWith(needles(target))).toEqual([])
  })

  test('[QUOTA-9] the counters of boards that were left, handed over or deleted are correct', async () => {
    const { target, owned, joined, alone } = await createUserWithBoards()
    await erase(target)
    const { rows } = await service.sql.query(
      `select stream.text_bytes is not distinct from coalesce(usage.text_bytes, 0) as is_right
      from board_stream stream left join board_usage usage using (board_id) where board_id = any ($1)`,
      [[owned.id, joined.id, alone.id]],
    )
    expect(rows).toEqual([{ is_right: true }, { is_right: true }, { is_right: true }])
  })
})
