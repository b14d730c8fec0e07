import type { BoardUsage } from '@lockstep/contract/boards'
import { Client } from './client.ts'
import type { TestBoard, TestService } from './service.ts'

/** A board of a service without quotas, its owner on an instance that has some on the same database, and common requests. */
export async function quotaBoard(service: TestService, instance: TestService) {
  const board = await service.board()
  const { token } = board.owner.api
  const api = new Client(instance.baseUrl, token as string)
  const params = { board_id: board.id }
  const column = { ...params, column_id: board.columns[0].id }
  return {
    board,
    api,
    params,
    column_id: board.columns[0].id,
    addCard: (body: { title: string; description?: string; id?: string }, headers = {}) =>
      api.send('createCard', { params: column, body, headers }),
    /** Fills the board without quotas. */
    fill: (title = 'Card', description: string | null = null) =>
      board.owner.api.call('createCard', { params: column, body: { title, description } }),
    upload: (card_id: string, bytes: number) =>
      api.send('createAttachment', { params: { card_id }, body: { file: new File(['x'.repeat(bytes)], 'file.txt') } }),
    usage: () => api.call('getBoardUsage', { params }),
    /** The ids of archived and deleted cards and columns, newest first. */
    removed: async () => (await api.call('listRemoved', { params })).map(({ id }) => id),
    purge: (removed_id: string) => api.call('purgeRemoved', { params: { ...params, removed_id } }),
  }
}
export type QuotaBoard = Awaited<ReturnType<typeof quotaBoard>>

/** The id of a created object. */
export const idOf = (response: { body: unknown } | undefined) =>
  ((response as { body: unknown }).body as { id: string }).id

/** A recount from the tables, independent of the counters. */
export async function recount(service: TestService, { id }: TestBoard) {
  const { rows } = await service.sql.query(
    `select usage.text_bytes::int, usage.card_count::int as cards, usage.file_bytes::int from board_usage usage where board_id = $1`,
    [id],
  )
  return rows[0] as { text_bytes: number; cards: number; file_bytes: number }
}
export const used = ({ text_bytes, cards, file_bytes }: BoardUsage) => ({
  text_bytes: text_bytes.used,
  cards: cards.used,
  file_bytes: file_bytes.used,
})
