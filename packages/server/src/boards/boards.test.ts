import { randomUUID } from 'node:crypto'
import { type EventKind, events as kinds } from '@lockstep/contract'
import type { FullBoard } from '@lockstep/contract/boards'
import type { Column } from '@lockstep/contract/columns'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkClosed } from '#testing/closed-schema'
import { emptyBoard, foldBoard, witness } from '#testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '#testing/service'

let service: TestService
let board: TestBoard
let owner: TestUser
let member: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  ;({ owner, member } = board)
  stranger = await service.user()
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
/** The messages of a board's log, whole. */
const messages = async (board_id: string): Promise<Message[]> => {
  const { rows } = await service.sql.query(
    'select seq::int, body::json as message from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows.map(({ seq, message }) => ({ seq, ...message }))
}

describe('creating', () => {
  test('[BOARD-1] [WRITE-1] the creator is the owner, the author, and alone', async () => {
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
    })
    expect(headers.get('board-position')).toBe('1.0')
    expect(await getBoard(created.id)).toEqual({ ...created, columns: [] })
    expect(await messages(created.id)).toEqual([])
  })

  test('[BOARD-1] [REQ-8] a description and an id that are null were left out', async () => {
    const created = await owner.api.call('createBoard', { body: { title: 'Plan', description: null, id: null } })
    expect(created).toMatchObject({ description: null, id: expect.any(String) })
  })

  test('[REQ-5] whatever else the body says is ignored', async () => {
    const claims = { created_by: member.id, members: [], labels: [1], columns: [1], created_at: '1999', nonsense: true }
    const { status, body } = await owner.api.request('POST', '/boards', { json: { title: 'Plan', ...claims } })
    expect({ status, body }).toMatchObject({ status: 201, body: { created_by: owner.id, labels: [] } })
    expect((body as FullBoard).members).toHaveLength(1)
  })
})

describe('reading', () => {
  test('[BOARD-2] the list shows the boards of which I am a member, oldest first', async () => {
    const me = await service.user()
    const theirs = await newBoard()
    const mine = await newBoard(me)
    await newBoard()
    const invite = { params: { board_id: theirs.id }, body: { user_id: me.id } }
    await owner.api.call('inviteMember', invite)
    const listed = await me.api.call('listBoards', {})
    expect(listed.map(({ id }) => id)).toEqual([theirs.id, mine.id])
    expect(listed[0]).toEqual(withoutColumns(await getBoard(theirs.id)))
  })

  test('[BOARD-2] who has no board sees an empty list', async () => {
    expect(await stranger.api.call('listBoards', {})).toEqual([])
  })

  test('[BOARD-3] [WRITE-1] the full board has everything in its order, and its position', async () => {
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
    const refused = { status: 403, code: 'not_a_member' }
    expect(await root.api.fail('getBoard', { params })).toMatchObject(refused)
    expect(await root.api.fail('updateBoard', { params, body: { title: 'Mine' } })).toMatchObject(refused)
    expect(await root.api.fail('deleteBoard', { params })).toMatchObject(refused)
    expect(await root.api.fail('inviteMember', { params, body: { user_id: root.id } })).toMatchObject(refused)
    expect(await root.api.fail('moveColumn', { params: { column_id }, body: { position: 0 } })).toMatchObject(refused)
    expect(await root.api.call('listBoards', {})).toEqual([])
  })
})

describe('changing', () => {
  test('[BOARD-4] [EVENT-5] title and description change, by the owner who changes them', async () => {
    const { id, owner: first, member: second, events } = await service.board()
    const params = { board_id: id }
    await first.api.call('updateMember', { params: { ...params, user_id: second.id }, body: { role: 'owner' } })
    const body = { title: 'Other plan', description: 'New' }
    const { answer, events: emitted } = await witness({ events }, () =>
      second.api.send('updateBoard', { params, body }),
    )
    const shown = withoutColumns(await first.api.call('getBoard', { params }))
    expect(answer).toMatchObject({ status: 200, body: shown })
    expect(shown).toMatchObject({ ...body, created_by: first.id, updated_by: second.id })
    expect(emitted).toMatchObject([{ type: 'board.updated', user_id: second.id }])
    expect(emitted[0]?.data).toEqual(shown)
  })

  test('[BOARD-4] nothing else changes, whatever the body says', async () => {
    const claims = { id: randomUUID(), created_by: member.id, updated_by: member.id, members: [], epoch: 9 }
    const json = { title: 'Mine', ...claims }
    const { body } = await owner.api.request('PATCH', `/boards/${board.id}`, { json })
    expect(body).toMatchObject({ id: board.id, title: 'Mine', created_by: owner.id, updated_by: owner.id })
    expect((body as FullBoard).members).toHaveLength(2)
  })
})

describe('deleting', () => {
  /** How many rows of each table belong to a board, without the tables that have none. */
  async function rowsOf(board_id: string): Promise<Record<string, number>> {
    const { rows: tables } = await service.sql.query(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'board_id'`,
    )
    const counted = await Promise.all(
      tables.map(async ({ name }): Promise<[string, number]> => {
        const { rows } = await service.sql.query(`select count(*)::int from "${name}" where board_id = $1`, [board_id])
        return [name, rows[0].count]
      }),
    )
    return Object.fromEntries(counted.filter(([, count]) => count > 0))
  }

  test('[BOARD-5] [EVENT-1] everything goes; board.deleted with the id alone remains', async () => {
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
      'stored_answers',
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

  test('[BOARD-6] [WRITE-2] its id is never free again, for nobody', async () => {
    const { id } = await newBoard()
    await owner.api.call('deleteBoard', { params: { board_id: id } })
    for (const { api } of [owner, stranger])
      for (const taken of [id, id.toUpperCase()])
        expect(await api.fail('createBoard', { body: { title: 'Again', id: taken } })).toMatchObject({
          status: 409,
          code: 'id_taken',
        })
    expect(await owner.api.fail('getBoard', { params: { board_id: id } })).toMatchObject({ status: 404 })
  })
})

describe('the log', () => {
  const steps = [
    'createColumn',
    'moveColumn',
    'updateColumn',
    'deleteColumn',
    'createCard',
    'createCard',
    'createCard',
    'moveCard',
    'moveCard',
    'updateCard',
    'deleteCard',
    'assignCard',
    'unassignCard',
    'updateBoard',
    'comeOrGo',
    'changeRole',
    'createLabel',
    'createLabel',
    'addCardLabel',
    'createChecklist',
    'createChecklist',
    'createItem',
    'createItem',
    'createAttachment',
    'createAttachment',
    'assignItem',
    'moveChecklist',
    'moveItem',
    'updateItem',
    'updateChecklist',
    'updateLabel',
    'unassignItem',
    'deleteAttachment',
    'deleteItem',
    'deleteChecklist',
    'removeCardLabel',
    'deleteLabel',
  ] as const
  const anyStep = fc.record({ does: fc.constantFrom(...steps), which: fc.nat(99), where: fc.nat(5) })
  type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

  /** Does one step with whatever the board holds at the moment; what has no object is left out. */
  async function take({ does, which, where }: Step, { id: board_id, columns, members, labels }: FullBoard) {
    const { api } = owner
    const pick = <T>(all: T[]) => all[which % all.length]
    const column = pick(columns)
    const card = pick(columns.flatMap((c) => c.cards))
    const params = { board_id }
    const others = { ...params, user_id: member.id }
    const isIn = members.some((m) => m.user_id === member.id)
    const of_column = column && { params: { column_id: column.id } }
    const of_card = card && { params: { card_id: card.id } }
    const title = `Title ${where}`
    const label = pick(labels)
    const checklists = columns.flatMap((c) => c.cards.flatMap((k) => k.checklists))
    const checklist = pick(checklists)
    const item = pick(checklists.flatMap((list) => list.items))
    const of_label = label && { params: { label_id: label.id } }
    const of_list = checklist && { params: { checklist_id: checklist.id } }
    const file = pick(columns.flatMap((c) => c.cards.flatMap((k) => k.attachments)))
    const of_item = item && { params: { item_id: item.id } }
    if (does === 'createColumn') await api.call(does, { params, body: { title, position: where } })
    else if (does === 'updateBoard') await api.call(does, { params, body: { title } })
    else if (does === 'comeOrGo' && isIn) await api.call('removeMember', { params: others })
    else if (does === 'comeOrGo') await api.call('inviteMember', { params, body: { user_id: member.id } })
    else if (does === 'changeRole' && isIn)
      await api.call('updateMember', { params: others, body: { role: where % 2 ? 'owner' : 'member' } })
    else if (does === 'moveColumn' && of_column) await api.call(does, { ...of_column, body: { position: where } })
    else if (does === 'updateColumn' && of_column) await api.call(does, { ...of_column, body: { title } })
    else if (does === 'deleteColumn' && of_column && columns.length > 2) await api.call(does, of_column)
    else if (does === 'createCard' && of_column)
      await api.call(does, { params: { ...params, ...of_column.params }, body: { title, position: where } })
    else if (does === 'moveCard' && of_card)
      await api.call(does, { ...of_card, body: { column_id: columns[where]?.id ?? null, position: where } })
    else if (does === 'updateCard' && of_card) await api.call(does, { ...of_card, body: { description: title } })
    else if (does === 'deleteCard' && of_card) await api.call(does, of_card)
    else if (does === 'assignCard' && of_card)
      await api.call(does, { ...of_card, body: { user_ids: isIn ? [member.id, owner.id] : [owner.id] } })
    else if (does === 'unassignCard' && of_card)
      await api.call(does, { params: { ...of_card.params, user_id: where % 2 ? owner.id : member.id } })
    else if (does === 'createLabel') await api.call(does, { params, body: { name: title } })
    else if (does === 'updateLabel' && of_label) await api.call(does, { ...of_label, body: { name: title } })
    else if (does === 'deleteLabel' && of_label) await api.call(does, of_label)
    else if (does === 'addCardLabel' && of_card && of_label)
      await api.call(does, { params: { ...of_card.params, ...of_label.params } })
    else if (does === 'removeCardLabel' && of_card) {
      const mark = columns.flatMap((c) => c.cards).find((k) => k.labels.length > 0)
      const [first] = mark?.labels ?? []
      if (mark && first) await api.call(does, { params: { card_id: mark.id, label_id: first.id } })
    } else if (does === 'createChecklist' && of_card) await api.call(does, { ...of_card, body: { title } })
    else if (does === 'updateChecklist' && of_list)
      await api.call(does, { ...of_list, body: { title: `${title} changed` } })
    else if (does === 'deleteChecklist' && of_list) await api.call(does, of_list)
    else if (does === 'moveChecklist' && of_list) await api.call(does, { ...of_list, body: { position: where } })
    else if (does === 'createItem' && of_list) await api.call(does, { ...of_list, body: { content: title } })
    else if (does === 'updateItem' && of_item)
      await api.call(does, { ...of_item, body: { content: `${title} changed`, is_done: true } })
    else if (does === 'deleteItem' && of_item) await api.call(does, of_item)
    else if (does === 'moveItem' && of_item)
      await api.call(does, { ...of_item, body: { checklist_id: pick(checklists)?.id ?? null, position: where } })
    else if (does === 'assignItem' && of_item)
      await api.call(does, { ...of_item, body: { user_ids: isIn ? [owner.id, member.id] : [owner.id] } })
    else if (does === 'createAttachment' && of_card)
      await api.call(does, { ...of_card, body: { file: new File([title], `${title}.txt`) } })
    else if (does === 'deleteAttachment' && file) await api.call(does, { params: { attachment_id: file.id } })
    else if (does === 'unassignItem' && of_item)
      await api.call(does, { params: { ...of_item.params, user_id: owner.id } })
  }

  test('[EVENT-3] whatever happens to a board, folding its log over the empty board gives what GET answers', async () => {
    const life = fc.asyncProperty(fc.array(anyStep, { minLength: 40, maxLength: 60 }), async (lived) => {
      const start = emptyBoard(await newBoard())
      for (const step of lived) await take(step, await getBoard(start.id))
      const { body, headers } = await owner.api.send('getBoard', { params: { board_id: start.id } })
      const log = await messages(start.id)
      expect(foldBoard(start, log)).toEqual(body)
      expect(headers.get('board-position')).toBe(`1.${log.length}`)
    })
    await fc.assert(life, { numRuns: 6, endOnFailure: true })
  })

  test('[EVENT-1] [EVENT-5] every message has five fields, its data is what the contract says, and names who acted', async () => {
    const { id: board_id } = await newBoard()
    const all = ['comeOrGo', 'changeRole', 'createColumn', 'createColumn', ...steps, 'assignCard', 'comeOrGo'] as const
    for (const [n, does] of all.entries()) await take({ does, which: 1, where: n }, await getBoard(board_id))
    const log = await messages(board_id)
    // A kind that the contract gains must be learned by the steps above.
    const told = Object.keys(kinds).filter((kind) => kind !== 'board.deleted')
    expect(new Set(log.map((message) => message.type))).toEqual(new Set(told))
    for (const { seq: _, ...message } of log) {
      const { type, data, timestamp, ...rest } = message
      expect(rest).toEqual({ user_id: owner.id, version: '1.0' })
      expect(new Date(timestamp).toISOString()).toBe(timestamp)
      checkClosed(kinds[type], data, type)
    }
  })
})
