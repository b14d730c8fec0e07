import { test as check, fc } from '@fast-check/vitest'
import type { Card } from '@lockstep/contract/cards'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let elsewhere: TestBoard
beforeAll(async () => {
  service = await startService()
  ;[board, elsewhere] = await Promise.all([service.board(), service.board()])
})
afterAll(() => service.stop())

interface Query {
  search?: string
  label?: string
  assignee?: string
  column?: string
  after?: string
  limit?: number
}
const newCard = (title: string, description: string | null = null, on = board, column = on.columns[0].id) =>
  on.member.api.call('createCard', { params: { board_id: on.id, column_id: column }, body: { title, description } })
const newLabel = (name: string, on = board) =>
  on.member.api.call('createLabel', { params: { board_id: on.id }, body: { name } })
const mark = (card: Card, label: { id: string }) =>
  board.member.api.call('addCardLabel', { params: { card_id: card.id, label_id: label.id } })
const assign = (card: Card, user: { id: string }) =>
  board.member.api.call('assignCard', { params: { card_id: card.id }, body: { user_ids: [user.id] } })
const find = (query: Query, on = board) => on.member.api.call('findCards', { params: { board_id: on.id }, query })
const titles = async (query: Query) => (await find(query)).map(({ title }) => title)
const nextOf = (headers: Headers) => /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

/** Every page, by following the links. */
async function pages(query: Query): Promise<Card[][]> {
  const found: Card[][] = []
  let response = await board.member.api.send('findCards', { params: { board_id: board.id }, query })
  for (;;) {
    found.push(response.body as Card[])
    const next = nextOf(response.headers)
    if (next === undefined) return found
    response = await board.member.api.request('GET', next)
  }
}

describe('text', () => {
  beforeAll(async () => {
    await newCard('Feed the Walrus')
    await newCard('Buy fish', 'The WALRUS is hungry')
    await newCard('Clean the pool')
    await newCard('100% done')
    await newCard('100 done')
    await newCard('snake_case')
    await newCard('snake case')
    await newCard('C:\\temp')
    await newCard('ÉCLAIR', 'ΣΊΣΥΦΟΣ in the straße')
  })

  test.each([
    ['walrus', ['Buy fish', 'Feed the Walrus']],
    ['WALR', ['Buy fish', 'Feed the Walrus']],
    [
      'e',
      [
        'ÉCLAIR',
        'C:\\temp',
        'snake case',
        'snake_case',
        '100 done',
        '100% done',
        'Clean the pool',
        'Buy fish',
        'Feed the Walrus',
      ],
    ],
    ['oo', ['Clean the pool']],
    ['walrus is', ['Buy fish']],
    ['no such thing', []],
  ])('[SEARCH-1] [SEARCH-4] the part %j of title or description is found, newest first', async (search, expected) => {
    expect(await titles({ search })).toEqual(expected)
  })

  test.each([
    ['100%', ['100% done']],
    ['%', ['100% done']],
    ['_', ['snake_case']],
    ['e_c', ['snake_case']],
    ['\\', ['C:\\temp']],
    [':\\T', ['C:\\temp']],
  ])('[SEARCH-2] the characters of %j are plain', async (search, expected) => {
    expect(await titles({ search })).toEqual(expected)
  })

  test.each(['éclair', 'ÉCL', 'σίσυφος', 'ΣΊΣΥΦΟΣ', 'ΦΟΣ', 'STRASSE', 'Straße', 'STRAẞE'])(
    '[SEARCH-2] %j is found, also where letters have two lower-case forms or none',
    async (search) => expect(await titles({ search })).toEqual(['ÉCLAIR']),
  )

  test('[SEARCH-1] a term does not match across the end of the title and the beginning of the description', async () => {
    await newCard('Left', 'right')
    expect(await titles({ search: 'left' })).toEqual(['Left'])
    for (const search of ['leftright', 'left right', 'left\nright']) expect(await titles({ search })).toEqual([])
  })

  test('[SEARCH-1] changed cards are found by their new text', async () => {
    const card = await newCard('Xylophone', 'tuned')
    await board.member.api.call('updateCard', { params: { card_id: card.id }, body: { title: 'Zither' } })
    expect([await titles({ search: 'xylo' }), await titles({ search: 'zith' })]).toEqual([[], ['Zither']])
    await board.member.api.call('updateCard', { params: { card_id: card.id }, body: { description: null } })
    expect(await titles({ search: 'tuned' })).toEqual([])
    await board.member.api.call('deleteCard', { params: { card_id: card.id } })
    expect(await titles({ search: 'zith' })).toEqual([])
  })

  test('[SEARCH-1] found cards are complete, as a read returns them', async () => {
    const card = await newCard('Quokka', 'smiles')
    await Promise.all([mark(card, await newLabel('Fauna')), assign(card, board.owner)])
    await board.member.api.call('createChecklist', { params: { card_id: card.id }, body: { title: 'Steps' } })
    expect(await find({ search: 'quokka' })).toEqual([
      await board.member.api.call('getCard', { params: { card_id: card.id } }),
    ])
  })

  test('[SEARCH-1] cards of other boards are never found', async () => {
    await newCard('Pangolin', null, elsewhere)
    expect(await titles({ search: 'pangolin' })).toEqual([])
    expect(await find({ search: 'pangolin' }, elsewhere)).toHaveLength(1)
  })

  check.prop([fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.nat(), fc.nat()], { numRuns: 60 })(
    '[SEARCH-2] every part of any title is found',
    async (text, from, length) => {
      const title = `x${text.replaceAll('\0', '')}`
      const { id } = await newCard(title)
      const letters = Array.from(title)
      const start = from % letters.length
      const part = letters.slice(start, start + 1 + (length % letters.length)).join('')
      const ids = (await find({ search: part, limit: 200 })).map((card) => card.id)
      expect(ids).toContain(id)
    },
  )
})

describe('label, assignee and column', () => {
  test('[SEARCH-3] each filter, and all together, return the cards that match', async () => {
    const [red, blue] = [await newLabel('Red'), await newLabel('Blue')]
    const { owner, member, columns } = board
    const cards: Card[] = []
    for (let n = 0; n < 16; n++) {
      const card = await newCard(n & 1 ? `Gnu ${n}` : `Yak ${n}`, null, board, columns[n & 2 ? 1 : 0].id)
      await mark(card, n & 4 ? red : blue)
      await assign(card, n & 8 ? owner : member)
      cards.push(card)
    }
    for (let n = 0; n < 16; n++) {
      const query = {
        ...(n & 1 && { search: 'gnu' }),
        ...(n & 2 && { column: columns[1].id }),
        ...(n & 4 && { label: red.id }),
        ...(n & 8 && { assignee: owner.id }),
      }
      const ids = (await find({ ...query, limit: 200 })).map((card) => card.id)
      const expected = cards.filter((_, i) => (i & n) === n).map((card) => card.id)
      expect(ids.filter((id) => cards.some((card) => card.id === id))).toEqual(expected.reverse())
    }
  })

  test('[SEARCH-3] a label, user or column of another board matches nothing', async () => {
    const [foreign, nonMember] = await Promise.all([newLabel('Foreign', elsewhere), service.user()])
    const [column] = elsewhere.columns
    for (const query of [
      { label: foreign.id },
      { column: column.id },
      { assignee: nonMember.id },
      { assignee: elsewhere.owner.id },
      { label: crypto.randomUUID(), search: 'walrus' },
    ])
      expect(await find(query)).toEqual([])
  })

  test.each(['label', 'assignee', 'column', 'after'])(
    '[SEARCH-3] [REQ-11] a %s that is not a UUID is 422',
    async (name) => {
      const failure = await board.member.api.fail('findCards', {
        params: { board_id: board.id },
        query: { [name]: 'x' },
      })
      expect(failure).toMatchObject({ status: 422, code: 'invalid_input' })
    },
  )
})

describe('pages', () => {
  test('[SEARCH-4] links lead through every card once, with the same filters', async () => {
    const label = await newLabel('50 % & more')
    for (let n = 0; n < 7; n++) await mark(await newCard(`Paged ${n} & 100 % =+ö`), label)
    const expected = ['6', '5', '4', '3', '2', '1', '0'].map((n) => `Paged ${n} & 100 % =+ö`)
    for (const query of [{ search: '& 100 % =+ö' }, { label: label.id }, { search: 'paged', label: label.id }]) {
      const found = await pages({ ...query, limit: 3 })
      expect(found.map((page) => page.length)).toEqual([3, 3, 1])
      expect(found.flat().map((card) => card.title)).toEqual(expected)
    }
    const exact = await pages({ label: label.id, limit: 7 })
    expect(exact.map((page) => page.length)).toEqual([7])
  })

  test('[SEARCH-4] a card that moves, changes or is deleted between two pages does not affect other cards', async () => {
    const label = await newLabel('Restless')
    const cards: Card[] = []
    for (let n = 0; n < 6; n++) cards.push(await mark(await newCard(`Restless ${n}`), label))
    const first = await board.member.api.send('findCards', {
      params: { board_id: board.id },
      query: { label: label.id, limit: 2 },
    })
    const at = (n: number) => ({ params: { card_id: (cards[n] as Card).id } })
    await board.member.api.call('moveCard', { ...at(0), body: { position: 0 } })
    await board.member.api.call('updateCard', { ...at(5), body: { title: 'Restless still' } })
    // The card that the link refers to.
    await board.member.api.call('deleteCard', at(4))
    const second = await board.member.api.request('GET', nextOf(first.headers) as string)
    const ids = [...(first.body as Card[]), ...(second.body as Card[])].map((card) => card.id)
    expect(ids).toEqual([5, 4, 3, 2].map((n) => cards[n]?.id))
  })

  test('[SEARCH-4] the smallest and the largest id are listed too', async () => {
    const ids = ['ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000']
    for (const id of ids) {
      const params = { board_id: board.id, column_id: board.columns[0].id }
      await board.member.api.call('createCard', { params, body: { id, title: 'Extreme' } })
    }
    const found = await pages({ search: 'extreme', limit: 1 })
    expect(found.flat().map((card) => card.id)).toEqual(ids)
  })

  test('[SEARCH-5] a page has 50 cards by default, and at most 200', async () => {
    const column = await board.member.api.call('createColumn', {
      params: { board_id: board.id },
      body: { title: 'Long' },
    })
    await service.sql.query(
      `insert into cards (board_id, id, column_id, title, rank, number, created_at, updated_at)
       select $1, gen_random_uuid(), $2, 'Long', n, 1000 + n, now(), now() from generate_series(1, 201) n`,
      [board.id, column.id],
    )
    expect(await find({ column: column.id })).toHaveLength(50)
    expect(await find({ column: column.id, search: '' })).toHaveLength(50)
    expect((await pages({ column: column.id, limit: 200 })).map((page) => page.length)).toEqual([200, 1])
    for (const limit of [0, 201])
      expect(
        await board.member.api.fail('findCards', { params: { board_id: board.id }, query: { limit } }),
      ).toMatchObject({ status: 422 })
  })
})

test('[READ-7] a page ends with the card that reaches one mebibyte, and Link leads through all of them', async () => {
  const text = `gigantic ${'x'.repeat(65_000)}`
  const ids: string[] = []
  for (let i = 0; i < 20; i++) ids.unshift((await newCard(`Long ${i}`, text)).id)
  const found = await pages({ search: 'gigantic', limit: 100 })
  expect(found.map((page) => page.length)).toEqual([17, 3])
  expect(found.flat().map(({ id }) => id)).toEqual(ids)
})

test('[READ-7] the items of checklists count towards the size of a page', async () => {
  for (let i = 0; i < 3; i++) {
    const { id: card_id } = await newCard(`Listed ${i}`)
    const { api } = board.member
    const { id: checklist_id } = await api.call('createChecklist', { params: { card_id }, body: { title: 'All' } })
    await service.sql.query(
      `insert into checklist_items select $1, gen_random_uuid(), $2, repeat('x', 1000), false, n from generate_series(1, 600) n`,
      [board.id, checklist_id],
    )
  }
  const found = await pages({ search: 'listed', limit: 100 })
  expect(found.map((page) => page.length)).toEqual([2, 1])
})
