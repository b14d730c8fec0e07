import type { Card } from '@lockstep/contract/cards'
import { Client } from '@lockstep/testing/client'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Seeded, seedBoards } from '../scripts/seed-boards.ts'

const CARDS = 60

let service: TestService
let first: Seeded
let api: Client
beforeAll(async () => {
  service = await startService()
  first = await seedBoards({ databaseUrl: service.databaseUrl, boards: 3, cards: CARDS })
  const { email: username, password } = first.user
  const { access_token } = await service.anybody.call('login', { body: { username, password } })
  api = new Client(service.baseUrl, access_token)
})
afterAll(() => service.stop())

const board = () => ({ board_id: first.board_ids[0] as string })

test('[SEED-1] the printed user has boards full of cards with labels, assignees and checklists', async () => {
  expect(await api.call('listBoards', {})).toHaveLength(3)
  const { columns, labels, members } = await api.call('getBoard', { params: board() })
  expect([columns.length, labels.length, members.length]).toEqual([5, 8, 8])
  expect(members[0]).toMatchObject({ role: 'owner', user_id: first.user.id })
  const cards = columns.flatMap((column) => column.cards)
  expect(cards).toHaveLength(CARDS)
  for (const card of cards) {
    expect(new Set(card.labels.map(({ id }) => id)).size).toBe(2)
    expect(card.assignees).toHaveLength(1)
    expect(card.checklists.map(({ items }) => items.length)).toEqual([3])
  }
})

test('[SEED-1] the log ends at the position of the board, and new events continue from there', async () => {
  const response = await api.send('listEvents', { params: board() })
  const events = response.body as { seq: number; data: Card; timestamp: string }[]
  const lastSeq = Number(response.headers.get('board-position')?.split('.')[1])
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => lastSeq - 49 + i))
  for (const { data, timestamp } of events.slice(-3)) {
    expect(data).toEqual(await api.call('getCard', { params: { card_id: data.id } }))
    expect(timestamp).toBe(data.updated_at)
  }

  const { columns } = await api.call('getBoard', { params: board() })
  const [column] = columns as [(typeof columns)[number]]
  const created = await api.send('createCard', {
    params: { ...board(), column_id: column.id },
    body: { title: 'Next', after_id: column.cards[0]?.id as string },
  })
  expect(created.headers.get('board-position')).toBe(`1.${lastSeq + 1}`)
  const after = (await api.call('getBoard', { params: board() })).columns[0]?.cards.map(({ title }) => title)
  expect(after).toEqual([column.cards[0], { title: 'Next' }, ...column.cards.slice(1)].map((card) => card?.title))
})

test('[SEED-1] a second run adds its own users and boards', async () => {
  const second = await seedBoards({ databaseUrl: service.databaseUrl, boards: 10, cards: 5 })
  expect(second.user.id).not.toBe(first.user.id)
  expect(await api.call('listBoards', {})).toHaveLength(3)
  const { rows } = await service.sql.query('select count(*)::int as boards from boards')
  expect(rows).toEqual([{ boards: 13 }])
})
