import { randomUUID } from 'node:crypto'
import type { EventKind } from '@lockstep/contract'
import type { FullBoard, ListedBoard } from '@lockstep/contract/boards'
import type { Column } from '@lockstep/contract/columns'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let owner: TestUser
let member: TestUser
let nonMember: TestUser
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  ;({ owner, member } = board)
  nonMember = await service.user()
})
afterAll(() => service.stop())

const newBoard = (by = owner) => by.api.call('createBoard', { body: { title: 'Plan' } })
const getBoard = (board_id: string) => owner.api.call('getBoard', { params: { board_id } })
const withoutColumns = (full: FullBoard) => {
  const { columns: _, ...rest } = full
  return rest
}
interface Message {
  seq: number
  type: EventKind
  data: unknown
  user_id: string | null
  timestamp: string
  version: string
}
/** The complete messages of a board's log. */
const messages = async (board_id: string): Promise<Message[]> => {
  const { rows } = await service.sql.query(
    'select seq::int, body::json as message from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows.map(({ seq, message }) => ({ seq, ...message }))
}

describe('creating', () => {
  test('[BOARD-1] [WRITE-1] the creator is the owner, the author, and the only member', async () => {
    const { status, body, headers } = await owner.api.send('createBoard', {
      body: { title: 'Plan', description: 'For the spring' },
    })
    const created = body as FullBoard
    const user = await owner.api.call('getUser', { params: { user_id: owner.id } })
    expect(status).toBe(201)
    expect(created).toEqual({
      id: created.id,
      title: 'Plan',
      description: 'For the spring',
      created_by: owner.id,
      updated_by: owner.id,
      labels: [],
      members: [{ board_id: created.id, user_id: owner.id, role: 'owner', user }],
      archived_at: null,
    })
    expect(headers.get('board-position')).toBe('1.0')
    expect(await getBoard(created.id)).toEqual({ ...created, columns: [] })
    expect(await messages(created.id)).toEqual([])
  })

  test('[BOARD-1] [REQ-8] null is the same as leaving out description and id', async () => {
    const created = await owner.api.call('createBoard', { body: { title: 'Plan', description: null, id: null } })
    expect(created).toMatchObject({ description: null, id: expect.any(String) })
  })

  test('[REQ-5] other fields of the body are ignored', async () => {
    const claims = { created_by: member.id, members: [], labels: [1], columns: [1], created_at: '1999', nonsense: true }
    const { status, body } = await owner.api.request('POST', '/boards', { json: { title: 'Plan', ...claims } })
    expect({ status, body }).toMatchObject({ status: 201, body: { created_by: owner.id, labels: [] } })
    expect((body as FullBoard).members).toHaveLength(1)
  })
})

describe('reading', () => {
  test('[BOARD-2] the list has the boards of which the user is a member, oldest first', async () => {
    const me = await service.user()
    const theirs = await newBoard()
    const mine = await newBoard(me)
    await newBoard()
    const invite = { params: { board_id: theirs.id }, body: { user_id: me.id } }
    await owner.api.call('inviteMember', invite)
    const listed = await me.api.call('listBoards', {})
    expect(listed.map(({ id }) => id)).toEqual([theirs.id, mine.id])
    expect(listed[0]).toEqual({
      ...withoutColumns(await getBoard(theirs.id)),
      open_cards: 0,
      my_cards: 0,
      changed_at: expect.any(String),
    })
  })

  test('[BOARD-2] a user without boards gets an empty list', async () => {
    expect(await nonMember.api.call('listBoards', {})).toEqual([])
  })

  test('[BOARD-7] [READ-1] the list has the open cards and those of the caller, and its ETag changes with them', async () => {
    const { id, owner: first, member: second, columns } = await service.board()
    const [todo, done] = columns
    const add = ({ id: column_id }: Column) =>
      second.api.call('createCard', { params: { board_id: id, column_id }, body: { title: 'Card' } })
    const [one, , three] = [await add(todo), await add(todo), await add(done)]
    const etags = new Set<string | null>()
    const counts = async ({ api }: TestUser) => {
      const { body, headers } = await api.send('listBoards', {})
      const [{ open_cards, my_cards }] = body as [ListedBoard]
      etags.add(headers.get('etag'))
      return [open_cards, my_cards]
    }
    expect(await counts(first)).toEqual([2, 0])
    for (const card of [one, three])
      await second.api.call('assignCard', { params: { card_id: card.id }, body: { user_ids: [first.id] } })
    expect(await counts(first)).toEqual([2, 1])
    await second.api.call('moveCard', { params: { card_id: one.id }, body: { column_id: done.id, position: 0 } })
    expect(await counts(first)).toEqual([1, 0])
    await second.api.call('updateColumn', { params: { column_id: done.id }, body: { is_done_column: false } })
    expect(await counts(first)).toEqual([3, 2])
    expect(etags.size).toBe(4)
    expect(await counts(second)).toEqual([3, 0])
  })

  test('[BOARD-7] the list has the time of the last change of a board, or of its creation', async () => {
    const me = await service.user()
    const { id } = await newBoard(me)
    const changedAt = async () => (await me.api.call('listBoards', {}))[0]?.changed_at ?? ''
    const created = await changedAt()
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Math.abs(Date.parse(created) - Date.now())).toBeLessThan(60_000)
    await me.api.call('createColumn', { params: { board_id: id }, body: { title: 'To do' } })
    const [event] = await messages(id)
    expect(await changedAt()).toBe(event?.timestamp)
    expect(event && event.timestamp >= created).toBe(true)
  })

  test('[BOARD-3] [WRITE-1] the full board has everything in order, and its position', async () => {
    const { id, owner: first, member: second, columns, events } = await service.board()
    const at = (column: Column) => ({ board_id: id, column_id: column.id })
    const one = await second.api.call('createCard', { params: at(columns[0]), body: { title: 'One' } })
    const two = await second.api.call('createCard', { params: at(columns[0]), body: { title: 'Two', position: 0 } })
    const three = await second.api.call('createCard', { params: at(columns[1]), body: { title: 'Three' } })
    const urgent = await second.api.call('createColumn', {
      params: { board_id: id },
      body: { title: 'Urgent', position: 0 },
    })
    const { headers, body } = await second.api.send('getBoard', { params: { board_id: id } })
    expect((body as FullBoard).columns).toEqual([
      urgent,
      { ...columns[0], cards: [two, one] },
      { ...columns[1], cards: [three] },
    ])
    expect((body as FullBoard).members.map((m) => m.user_id)).toEqual([first.id, second.id])
    expect((body as FullBoard).labels).toEqual([])
    expect(headers.get('board-position')).toBe(`1.${(await events()).length}`)
  })

  test('[AUTH-24] a superuser has no rights on boards of others', async () => {
    const root = await service.user()
    await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
    const params = { board_id: board.id }
    const [{ id: column_id }] = board.columns
    const rejected = { status: 403, code: 'not_a_member' }
    expect(await root.api.fail('getBoard', { params })).toMatchObject(rejected)
    expect(await root.api.fail('updateBoard', { params, body: { title: 'Mine' } })).toMatchObject(rejected)
    expect(await root.api.fail('deleteBoard', { params })).toMatchObject(rejected)
    expect(await root.api.fail('inviteMember', { params, body: { user_id: root.id } })).toMatchObject(rejected)
    expect(await root.api.fail('moveColumn', { params: { column_id }, body: { position: 0 } })).toMatchObject(rejected)
    expect(await root.api.call('listBoards', {})).toEqual([])
  })
})

describe('changing', () => {
  test('[BOARD-4] [EVENT-5] an owner changes title and description, and becomes its last author', async () => {
    const { id, owner: first, member: second, events } = await service.board()
    const params = { board_id: id }
    await first.api.call('updateMember', { params: { ...params, user_id: second.id }, body: { role: 'owner' } })
    const body = { title: 'Other plan', description: 'New' }
    const { response, events: emitted } = await recordEvents({ events }, () =>
      second.api.send('updateBoard', { params, body }),
    )
    const shown = withoutColumns(await first.api.call('getBoard', { params }))
    expect(response).toMatchObject({ status: 200, body: shown })
    expect(shown).toMatchObject({ ...body, created_by: first.id, updated_by: second.id })
    expect(emitted).toMatchObject([{ type: 'board.updated', user_id: second.id }])
    expect(emitted[0]?.data).toEqual(shown)
  })

  test('[BOARD-4] nothing else changes, whatever the body contains', async () => {
    const claims = { id: randomUUID(), created_by: member.id, updated_by: member.id, members: [], epoch: 9 }
    const json = { title: 'Mine', ...claims }
    const { body } = await owner.api.request('PATCH', `/boards/${board.id}`, { json })
    expect(body).toMatchObject({ id: board.id, title: 'Mine', created_by: owner.id, updated_by: owner.id })
    expect((body as FullBoard).members).toHaveLength(2)
  })
})

describe('deleting', () => {
  /** The number of rows of a board in each table, without empty tables. */
  async function rowsOf(board_id: string): Promise<Record<string, number>> {
    const { rows: tables } = await service.sql.query(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and column_name = 'board_id' and table_type = 'BASE TABLE'`,
    )
    const counted = await Promise.all(
      tables.map(async ({ name }): Promise<[string, number]> => {
        const { rows } = await service.sql.query(`select count(*)::int from "${name}" where board_id = $1`, [board_id])
        return [name, rows[0].count]
      }),
    )
    return Object.fromEntries(counted.filter(([, count]) => count > 0))
  }

  test('[BOARD-5] [EVENT-1] everything is deleted; board.deleted with the id remains', async () => {
    const doomed = await service.board()
    const { id, columns, member: second } = doomed
    const params = { board_id: id }
    const card = await second.api.call('createCard', {
      params: { ...params, column_id: columns[0].id },
      body: { title: 'One' },
      headers: { 'idempotency-key': 'kept' },
    })
    await second.api.call('assignCard', { params: { card_id: card.id }, body: { user_ids: [second.id] } })
    const filled = [
      'board_events',
      'board_members',
      'board_stream',
      'card_assignees',
      'cards',
      'columns',
      'inbox_items',
      'stored_responses',
    ]
    expect(Object.keys(await rowsOf(id)).toSorted()).toEqual(filled)
    const last = (await doomed.events()).length

    const { status, text, headers } = await doomed.owner.api.send('deleteBoard', { params })

    expect({ status, text, position: headers.get('board-position') }).toEqual({
      status: 204,
      text: '',
      position: `1.${last + 1}`,
    })
    expect(await doomed.events()).toEqual([
      { seq: last + 1, type: 'board.deleted', user_id: doomed.owner.id, subject_id: null, data: { id } },
    ])
    expect(await rowsOf(id)).toEqual({ board_events: 1, board_stream: 1 })
    expect(await doomed.owner.api.fail('getBoard', { params })).toMatchObject({ status: 404, code: 'board_not_found' })
    expect(await second.api.fail('getCard', { params: { card_id: card.id } })).toMatchObject({ status: 404 })
    expect(await second.api.call('listBoards', {})).toEqual([])
  })

  test('[BOARD-6] [WRITE-2] its id can never be used again, by any user', async () => {
    const { id } = await newBoard()
    await owner.api.call('deleteBoard', { params: { board_id: id } })
    for (const { api } of [owner, nonMember])
      for (const taken of [id, id.toUpperCase()])
        expect(await api.fail('createBoard', { body: { title: 'Again', id: taken } })).toMatchObject({
          status: 409,
          code: 'id_taken',
        })
    expect(await owner.api.fail('getBoard', { params: { board_id: id } })).toMatchObject({ status: 404 })
  })
})
