import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type TestBoard, type TestService } from '#testing/service'

let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

describe('creating', () => {
  test('[CARD-1] a card is placed last unless said otherwise', async () => {
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const one = await board.member.api.call('createCard', { params, body: { title: 'One' } })
    const two = await board.member.api.call('createCard', { params, body: { title: 'Two' } })
    expect(two.rank).toBeGreaterThan(one.rank)
  })
})
