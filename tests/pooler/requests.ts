import type { Client } from '@lockstep/testing/client'
import { type ColumnIds, newBoard } from '../recovery/writers.ts'

const BOARDS = 40
const CONCURRENCY = 16

/** Creates, moves, changes and reads cards and boards, `count` requests in all. Returns the statuses, each with its number. */
export async function sendMixedRequests(api: Client, count: number): Promise<Map<number, number>> {
  const boards = await Promise.all(Array.from({ length: BOARDS }, () => newBoard(api)))
  const cards = new Map<string, string>()
  const statuses = new Map<number, number>()
  const send = async (nth: number) => {
    const params = boards[nth % BOARDS] as ColumnIds
    const { board_id, column_id } = params
    const card_id = cards.get(board_id)
    const kind = Math.floor(nth / BOARDS) % 5
    if (card_id === undefined || kind === 0) return createCard(params)
    if (kind === 1) return api.send('moveCard', { params: { card_id }, body: { column_id, after_id: null } })
    if (kind === 2) return api.send('updateCard', { params: { card_id }, body: { title: `Changed ${nth}` } })
    if (kind === 3) return api.send('getCard', { params: { card_id } })
    return api.send('getBoard', { params: { board_id } })
  }
  const createCard = async (params: ColumnIds) => {
    const response = await api.send('createCard', { params, body: { title: 'Card' } })
    if (response.status === 201) cards.set(params.board_id, (response.body as { id: string }).id)
    return response
  }
  await inParallel(count, async (nth) => {
    const { status } = await send(nth)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  })
  return statuses
}

/** Runs a function `count` times, a few at a time. */
export async function inParallel(count: number, work: (nth: number) => Promise<unknown>) {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
