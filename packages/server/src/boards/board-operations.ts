import { type Board, boardOperations, type ListedBoard } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { type Quotas, readUsage } from '../core/quotas.ts'
import { newFields } from '../core/resource-statements.ts'
import type { Db } from '../database/database.ts'
import { slotOf } from '../http/admission.ts'
import { isSame } from '../http/etag.ts'
import type { Handlers } from '../http/handler.ts'
import { CompressedJson, StreamedJson } from '../http/json-response.ts'
import { setNextLink } from '../http/next-link.ts'
import { limitOf } from '../http/read-page.ts'
import type { ByteBudget } from '../platform/byte-budget.ts'
import { Problem } from '../platform/problem.ts'
import { type BoardCache, etagOfBoard } from './board-cache.ts'
import {
  deleteBoard,
  insertBoard,
  listBoards,
  readBoard,
  readListedBoard,
  setArchived,
  updateBoard,
} from './board-queries.ts'
import { addMember } from './member-queries.ts'

const fieldsOf = newFields(boardOperations.createBoard)

export const boardHandlers = (
  cache: BoardCache,
  quotas: Quotas,
  budget: ByteBudget,
): Handlers<typeof boardOperations> => ({
  async createBoard({ db, caller, board_id, body }) {
    await quotas.requireOwnedBoardQuota(db, caller.id)
    await insertBoard(db, { id: board_id, user_id: caller.id, ...fieldsOf(body) })
    await addMember(db, { board_id, user_id: caller.id }, 'owner')
    return requireBoard(db, board_id)
  },

  async listBoards({ db, caller, query, request, reply }) {
    const user = { user_id: caller.id, archived: query.archived ? query.archived === 'true' : null }
    const board_id = caller.token?.board_id
    if (board_id) return `[${await readListedBoard(db, user, board_id)}]` as JsonText<ListedBoard[]>
    const limit = limitOf(boardOperations.listBoards, query)
    const first = await listBoards(db, user, query.cursor ?? null, limit)
    if (first.has_more && limit !== null) setNextLink(request, reply, { ...query, limit, cursor: first.cursor })
    if (!first.has_more || limit !== null) return `[${first.json}]` as JsonText<ListedBoard[]>
    return new StreamedJson(`[${first.json}`, pagesAfter(db, user, first))
  },

  async getBoard({ db, caller, board_id, version, request, reply }) {
    const expected = request.headers['if-none-match']
    const isUnchanged = expected !== undefined && isSame(expected, etagOfBoard(version))
    // A build is charged before it begins: otherwise all builds that one user requests together would pass.
    if (!isUnchanged && !cache.has(board_id, version)) budget.take(caller.id, version.text_bytes ?? 0)
    const board = isUnchanged
      ? { ...version, bytes: undefined, text_bytes: 0 }
      : await cache.get(db, board_id, version, slotOf(request))
    reply.header('board-position', board.position)
    return new CompressedJson(etagOfBoard(board), board.bytes, board.text_bytes)
  },

  async updateBoard({ db, caller, board_id, body, emit }) {
    const board = await updateBoard(db, board_id, body, caller.id)
    if (!board) return requireBoard(db, board_id)
    const { json, text_bytes } = board
    emit('board.updated', json, { growth: { text_bytes } })
    return json
  },

  async deleteBoard({ db, board_id, emit }) {
    await deleteBoard(db, board_id)
    emit('board.deleted', { id: board_id })
  },

  async archiveBoard({ db, caller, board_id, at, emit }) {
    const isChanged = await setArchived(db, board_id, caller.id, at)
    const board = await requireBoard(db, board_id)
    if (isChanged) emit('board.updated', board)
    return board
  },

  async restoreBoard({ db, caller, board_id, emit }) {
    const isChanged = await setArchived(db, board_id, caller.id, null)
    const board = await requireBoard(db, board_id)
    if (isChanged) emit('board.updated', board)
    return board
  },

  async getBoardUsage({ db, board_id }) {
    const usage = await readUsage(db, board_id)
    if (!usage) throw new Problem('board_not_found')
    const { isOn, limits, logBytesPerMinute } = quotas
    const withLimit = (used: number | null, limit: number) => ({ used: used ?? 0, limit: isOn ? limit : null })
    return {
      text_bytes: withLimit(usage.text_bytes, limits.text_bytes),
      cards: withLimit(usage.card_count, limits.card_count),
      file_bytes: withLimit(usage.file_bytes, limits.file_bytes),
      log_bytes_per_minute: withLimit(quotas.logLevel(usage, usage.now), logBytesPerMinute),
    }
  },
})

/** The following pages of a list that is too long for one statement. Between two pages no connection is held. */
async function* pagesAfter(
  db: Db,
  user: Parameters<typeof listBoards>[1],
  first: Awaited<ReturnType<typeof listBoards>>,
) {
  for (let page = first; page.has_more; ) {
    page = await listBoards(db, user, page.cursor, null)
    if (page.json !== '') yield `,${page.json}`
  }
  yield ']'
}

async function requireBoard(db: Db, id: string): Promise<JsonText<Board>> {
  const board = await readBoard(db, id)
  if (!board) throw new Problem('board_not_found')
  return board
}
