import { randomUUID } from 'node:crypto'
import type { FullBoard } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { ApiResponse } from '@lockstep/testing/client'
import { foldBoard, type OwnResponses } from '@lockstep/testing/fold'
import { startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GAP } from './rank.ts'

const LIMIT = Number.MAX_SAFE_INTEGER
const kinds = ['card', 'column'] as const
type Kind = (typeof kinds)[number]
type Item = Card | Column
interface Place {
  position?: number | null
  after_id?: string | null
}
interface Logged {
  seq: number
  type: string
  user_id: string | null
  data: Item
}

let service: TestService
let owner: TestUser
let member: TestUser
beforeAll(async () => {
  // Ranks are set directly in the database, so cached boards would be outdated.
  service = await startService({ BOARD_CACHE_BYTES: '1' })
  ;[owner, member] = await Promise.all([service.user(), service.user()])
})
afterAll(() => service.stop())

/** A list of columns or cards on its own board, with this many items, named by their ids. */
async function newList(kind: Kind, length: number) {
  const { id: board_id } = await owner.api.call('createBoard', { body: { title: 'Plan' } })
  await owner.api.call('inviteMember', { params: { board_id }, body: { user_id: member.id } })
  const newColumn = (body: Place = {}, by = owner) =>
    by.api.send('createColumn', { params: { board_id }, body: { title: 'Column', ...body } })
  const column_id = kind === 'card' ? ((await newColumn()).body as Column).id : ''
  const newCard = (body: Place = {}, by = owner) =>
    by.api.send('createCard', { params: { board_id, column_id }, body: { title: 'Card', ...body } })

  const list = {
    create: kind === 'card' ? newCard : newColumn,
    move: (id: string, body: Place, by = owner): Promise<ApiResponse> =>
      kind === 'card'
        ? by.api.send('moveCard', { params: { card_id: id }, body })
        : by.api.send('moveColumn', { params: { column_id: id }, body: body as { after_id: string | null } }),
    remove: (id: string) =>
      kind === 'card'
        ? owner.api.call('deleteCard', { params: { card_id: id } })
        : owner.api.call('deleteColumn', { params: { column_id: id } }),
    boardResponse: () => owner.api.send('getBoard', { params: { board_id } }),
    board: () => owner.api.call('getBoard', { params: { board_id } }),
    /** The list as `GET` returns it. */
    items: async (): Promise<Item[]> => {
      const { columns } = await list.board()
      return kind === 'card' ? (columns[0] as Column).cards : columns
    },
    ids: async () => (await list.items()).map((item) => item.id),
    /** The stored ranks: faster than reading the board after each of hundreds of changes. */
    ranks: async () => {
      const { rows } = await service.sql.query(
        `select id, rank::float8 from ${kind}s where board_id = $1 order by rank, id`,
        [board_id],
      )
      return rows as { id: string; rank: number }[]
    },
    setRanks: async (ranks: number[]) => {
      const ids = await list.ids()
      await service.sql.query(
        `update ${kind}s item set rank = wanted.rank from unnest($1::uuid[], $2::int8[]) wanted (id, rank) where item.id = wanted.id`,
        [ids, ranks],
      )
    },
    log: async () => {
      const { rows } = await service.sql.query(
        `select seq::int, type, user_id, body::json -> 'data' as data from board_events where board_id = $1 order by seq`,
        [board_id],
      )
      return rows as Logged[]
    },
  }
  for (let i = 0; i < length; i++) await list.create()
  return list
}
type List = Awaited<ReturnType<typeof newList>>

const created = ({ status, body, text }: ApiResponse) => {
  expect(status, text).toBe(201)
  return (body as Item).id
}
const moved = ({ status, body, text }: ApiResponse) => {
  expect(status, text).toBe(200)
  return (body as Item).id
}
const withAt = <T>(items: T[], index: number, item: T) =>
  items.filter((other) => other !== item).toSpliced(index, 0, item)
const seqOf = ({ headers }: ApiResponse) => Number(headers.get('board-position')?.split('.')[1])

describe.each(kinds)('where a new %s goes', (kind) => {
  test.for([
    ['first', 0, 0],
    ['in the middle', 2, 2],
    ['last', 3, 3],
    ['last when the position is past the end', 4, 3],
    ['last when the position is as large as can be', LIMIT, 3],
    ['[REQ-8] last when the position is null', null, 3],
  ] as const)('[ORDER-1] %s', async ([, position, index]) => {
    const list = await newList(kind, 3)
    const before = await list.ids()
    const id = created(await list.create({ position }))
    expect(await list.ids()).toEqual(withAt(before, index, id))
  })

  test('[ORDER-2] after its anchor, or first with null, whatever the position', async () => {
    const list = await newList(kind, 3)
    const [a, b, c] = (await list.ids()) as [string, string, string]
    const d = created(await list.create({ after_id: a, position: 3 }))
    const e = created(await list.create({ after_id: null, position: 2 }))
    const f = created(await list.create({ after_id: c }))
    const g = created(await list.create({ after_id: b.toUpperCase() }))
    expect(await list.ids()).toEqual([e, a, d, b, g, c, f])
  })

  test('[ORDER-2] at its position, else last, when the anchor is not in the list', async () => {
    const list = await newList(kind, 2)
    const [a, b] = (await list.ids()) as [string, string]
    const [elsewhere = ''] = await (await newList(kind, 1)).ids()
    const c = created(await list.create({ after_id: elsewhere, position: 1 }))
    const d = created(await list.create({ after_id: randomUUID() }))
    const e = created(await list.create({ after_id: randomUUID(), position: 0 }))
    expect(await list.ids()).toEqual([e, a, c, b, d])
  })

  test.for([-1, 1.5, '1', 1e30])('[ORDER-1] is 422 with the position %s', async (position) => {
    const list = await newList(kind, 1)
    const { status, body } = await list.create({ position: position as number })
    expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field: 'position' }] } })
    expect(await list.ids()).toHaveLength(1)
  })
})

describe.each(kinds)('where a moved %s goes', (kind) => {
  test('[ORDER-1] from every position to every position of the list without it, and past its end', async () => {
    const list = await newList(kind, 4)
    let order = await list.ids()
    for (const from of [0, 1, 2, 3])
      for (const to of [0, 1, 2, 3, 9]) {
        const id = order[from] as string
        moved(await list.move(id, { position: to }))
        order = withAt(order, to, id)
        expect((await list.ranks()).map((item) => item.id)).toEqual(order)
      }
  })

  test('[ORDER-2] after its anchor, or first with null, whatever the position', async () => {
    const list = await newList(kind, 4)
    const [a, b, c, d] = (await list.ids()) as [string, string, string, string]
    moved(await list.move(a, { after_id: c, position: 0 }))
    expect(await list.ids()).toEqual([b, c, a, d])
    moved(await list.move(d, { after_id: null, position: 2 }))
    expect(await list.ids()).toEqual([d, b, c, a])
  })

  test('[ORDER-2] [REQ-8] after its anchor when the position is null', async () => {
    const list = await newList(kind, 3)
    const [a, b, c] = (await list.ids()) as [string, string, string]
    moved(await list.move(c, { after_id: a, position: null }))
    expect(await list.ids()).toEqual([a, c, b])
  })

  test('[ORDER-2] at its position, else last, when the anchor is gone or is the item itself', async () => {
    const list = await newList(kind, 4)
    const [a, b, c, gone] = (await list.ids()) as [string, string, string, string]
    await list.remove(gone)
    moved(await list.move(c, { after_id: gone, position: 0 }))
    expect(await list.ids()).toEqual([c, a, b])
    moved(await list.move(c, { after_id: c, position: 1 }))
    expect(await list.ids()).toEqual([a, c, b])
    moved(await list.move(a, { after_id: a }))
    expect(await list.ids()).toEqual([c, b, a])
  })

  test('[ORDER-1] is 422 with a negative position', async () => {
    const list = await newList(kind, 1)
    const [id = ''] = await list.ids()
    expect((await list.move(id, { position: -1 })).status).toBe(422)
  })
})

/** One change of a list: the response, the user, and the ranks before and after. */
interface Change {
  response: ApiResponse
  by: TestUser
  before: { id: string; rank: number }[]
  after: { id: string; rank: number }[]
}

/** Owner and member place one item after another at the same spot; a plain array is the expected order. */
async function placeMany(list: List, times: number, spot: number, place: (by: TestUser) => Promise<ApiResponse>) {
  const changes: Change[] = []
  let before = await list.ranks()
  for (let n = 0; n < times; n++) {
    const by = n % 3 === 2 ? member : owner
    const response = await place(by)
    const after = await list.ranks()
    const { id } = response.body as Item
    expect(after.map((item) => item.id)).toEqual(
      withAt(
        before.map((item) => item.id),
        Math.min(spot, before.length),
        id,
      ),
    )
    changes.push({ response, by, before, after })
    before = after
  }
  return changes
}

/** Checks the events of a change: first the re-spaced neighbours, without a user and unchanged except for their rank, then the placed item. */
function checkEvents(
  type: string,
  { response, by, before, after }: Change,
  events: Logged[],
  known: Map<string, Item>,
) {
  const others = events.slice(0, -1)
  const placed = response.body as Item
  expect(events.at(-1)).toMatchObject({ type, user_id: by.id, data: placed })

  const was = new Map(before.map((item) => [item.id, item.rank]))
  const changed = after.filter(({ id, rank }) => id !== placed.id && was.get(id) !== rank)
  expect(new Map(others.map(({ data }) => [data.id, data.rank]))).toEqual(new Map(changed.map((c) => [c.id, c.rank])))
  expect(others).toHaveLength(changed.length)

  let seen = before.filter((item) => item.id !== placed.id)
  for (const { type: otherType, user_id, data } of others) {
    expect({ type: otherType, user_id, data }).toEqual({
      type: type.replace('created', 'moved'),
      user_id: null,
      data: { ...known.get(data.id), rank: data.rank },
    })
    seen = seen.map((item) => (item.id === data.id ? data : item))
    expect(isOrdered(seen), `the event of ${data.id} inverts two items`).toBe(true)
  }
  for (const { data } of events) known.set(data.id, data)
  return others.length
}
const isOrdered = (items: { rank: number }[]) => items.every(({ rank }, i) => rank > (items[i - 1]?.rank ?? -Infinity))

/** Checks the events of every change, then the state of three clients. Returns the number of re-spaced neighbours. */
async function checkAll(list: List, type: string, start: ApiResponse, changes: Change[]) {
  const log = await list.log()
  const board = start.body as FullBoard
  const known = new Map<string, Item>(board.columns.flatMap((c) => [c, ...c.cards]).map((item) => [item.id, item]))
  let seq = seqOf(start)
  let others = 0
  const prompt: OwnResponses = { user_id: owner.id, responses: [] }
  const late: OwnResponses = { user_id: owner.id, responses: [] }
  for (const change of changes) {
    const [from, to] = [seq, seqOf(change.response)]
    others += checkEvents(type, change, log.slice(from, to), known)
    if (change.by === owner) {
      prompt.responses.push({ seq: from, type, data: change.response.body })
      late.responses.push({ seq: to, type, data: change.response.body })
    }
    seq = to
  }
  const shown = await list.board()
  const events = log.slice(seqOf(start))
  expect(foldBoard(board, events), 'who applies every event').toEqual(shown)
  expect(foldBoard(board, events, prompt), 'skipping own events, own responses before the events').toEqual(shown)
  expect(foldBoard(board, events, late), 'skipping own events, own responses after the events').toEqual(shown)
  return others
}

describe.each(kinds)('re-spacing for a %s', (kind) => {
  const TIMES = 100
  const roomy = [1, 2, 3, 4, 5, 6].map((n) => n * GAP)
  const crowded = [1, 2, 3, 4, 5, 6]
  const last = (start: number[]) => start.length + TIMES

  test.for<[string, number[], number, number, (ids: string[]) => Place]>([
    ['the same position', roomy, 2, 30, () => ({ position: 2 })],
    ['the same position of a crowded list', crowded, 3, 30, () => ({ position: 3 })],
    ['the same anchor', roomy, 4, 30, (ids) => ({ after_id: ids[3] as string })],
    ['the start, at the lower limit', crowded.map((n) => n - 1 - LIMIT), 0, 12, () => ({ after_id: null })],
    ['the end, at the upper limit', crowded.map((n) => n - 6 + LIMIT), last(crowded), 12, () => ({})],
    ['a gap between both limits', [-LIMIT, LIMIT], 1, 800, () => ({ position: 1 })],
  ])(
    '[ORDER-3] [ORDER-4] [ORDER-5] [ORDER-6] [CARD-9] [EVENT-5] a hundred inserts at %s',
    async ([where, ranks, spot, atMost, place]) => {
      const list = await newList(kind, ranks.length)
      await list.setRanks(ranks)
      const start = await list.boardResponse()
      const at = place(await list.ids())
      const changes = await placeMany(list, TIMES, spot, (by) => list.create(at, by))
      const others = await checkAll(list, `${kind}.created`, start, changes)
      console.info(`${TIMES} ${kind}s at ${where}: ${others} others were re-spaced`)
      expect(others).toBeGreaterThan(0)
      expect(others).toBeLessThanOrEqual(atMost)
    },
  )

  test('[ORDER-3] [ORDER-4] [ORDER-6] [CARD-9] moves to a spot without a gap', async () => {
    const list = await newList(kind, 30)
    await list.setRanks(Array.from({ length: 30 }, (_, i) => i))
    const start = await list.boardResponse()
    const place = async (by: TestUser) => list.move((await list.ranks()).at(-1)?.id as string, { position: 1 }, by)
    const changes = await placeMany(list, 60, 1, place)
    expect(await checkAll(list, `${kind}.moved`, start, changes)).toBeGreaterThan(0)
  })
})
