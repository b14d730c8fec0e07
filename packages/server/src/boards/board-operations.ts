import type { Board, boardOperations } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import type { Db } from '../core/database.ts'
import { isSame } from '../core/etag.ts'
import { Packed } from '../core/json-answer.ts'
import { Problem } from '../core/problem.ts'
import type { Handlers } from '../core/serve.ts'
import { type BoardCache, etagOfBoard } from './board-cache.ts'
import { deleteBoard, insertBoard, listBoards, readBoard, updateBoard } from './board-queries.ts'
import { addMember } from './member-queries.ts'

export const boardHandlers = (cache: BoardCache): Handlers<typeof boardOperations> => ({
  async createBoard({ db, caller, board_id, body }) {
    const { title, description = null } = body
    await insertBoard(db, { id: board_id, title, description, user_id: caller.id })
    await addMember(db, { board_id, user_id: caller.id }, 'owner')
    return requireBoard(db, board_id)
  },

  listBoards: ({ db, caller }) => listBoards(db, caller.id),

  async getBoard({ db, board_id, version, request, reply }) {
    const known = request.headers['if-none-match']
    const isKnown = known !== undefined && isSame(known, etagOfBoard(version))
    const shown = isKnown ? { ...version, bytes: undefined } : await cache.get(db, board_id, version)
    reply.header('board-position', shown.position)
    return new Packed(etagOfBoard(shown), shown.bytes)
  },

  async updateBoard({ db, caller, board_id, body, emit }) {
    const board = await updateBoard(db, board_id, body, caller.id)
    if (!board) return requireBoard(db, board_id)
    emit('board.updated', board)
    return board
  },

  async deleteBoard({ db, board_id, emit }) {
    await deleteBoard(db, board_id)
    emit('board.deleted', { id: board_id })
  },
})

async function requireBoard(db: Db, id: string): Promise<JsonText<Board>> {
  const board = await readBoard(db, id)
  if (!board) throw new Problem('board_not_found')
  return board
}
