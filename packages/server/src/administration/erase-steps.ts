import { randomUUID } from 'node:crypto'
import type { Board, BoardMember } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { deleteBoard, readBoard } from '../boards/board-queries.ts'
import { readMember, setRole } from '../boards/member-queries.ts'
import { removeMember } from '../boards/member-steps.ts'
import { changeBoardAsSystem, type SystemServices } from '../core/change-board.ts'
import { readUser } from '../users/user-queries.ts'
import { type Actor, administer, record } from './admin-steps.ts'
import { buryUser, findBoardsLeft, findHeir, forgetBoard, listBoardsToLeave, renameInEvents } from './erase-queries.ts'

/** What erasing rests on: the part of the service that changes boards, and how long events are kept. */
export interface Eraser {
  core: SystemServices
  retentionDays: number
}
export interface Erased {
  boards_left: number
  boards_handed_over: number
  boards_deleted: number
  events_renamed: number
}

/**
 * Erases a user, in this order: his row loses every name, and his tokens their force; he leaves his boards, one change
 * each; his name goes from their logs. Nothing that is written after the first step holds it, so a board once cleaned
 * stays clean. Whatever breaks it off, doing it again does the rest.
 */
export async function eraseUser({ core, retentionDays }: Eraser, actor: Actor, user_id: string): Promise<Erased> {
  const { database } = core
  await administer(database, {
    actor,
    action: 'erase',
    target_id: user_id,
    allows: { erased: true },
    work: async (tx, { is_erased }) => {
      // Nobody can take a name beforehand that nobody can foresee.
      if (!is_erased) await buryUser(tx, user_id, `erased-${randomUUID()}`)
      return { result: undefined, ...(!is_erased && { details: {} }) }
    },
  })
  const erased: Erased = { boards_left: 0, boards_handed_over: 0, boards_deleted: 0, events_renamed: 0 }
  for (const board_id of await listBoardsToLeave(database, user_id)) {
    const done = await leaveBoard(core, { board_id, user_id })
    if (done) erased[done]++
  }
  const shown = (await readUser(database, user_id)) as string
  for (const board_id of await findBoardsLeft(database, user_id, retentionDays)) {
    erased.events_renamed += await renameInEvents(database, board_id, user_id, shown)
    await forgetBoard(database, { board_id, user_id })
  }
  await record(database, actor, 'erased', user_id, { ...erased })
  return erased
}

/** Alone, he takes the board with him; as its only owner he leaves it to whoever has been there the longest. */
async function leaveBoard(core: Eraser['core'], key: { board_id: string; user_id: string }) {
  const { board_id } = key
  let done: 'boards_left' | 'boards_handed_over' | 'boards_deleted' | undefined
  await changeBoardAsSystem(core, board_id, async ({ tx, at, emit }) => {
    const [member, heirId] = await Promise.all([readMember(tx, key), findHeir(tx, key)])
    if (!member) return
    if (heirId === undefined) {
      await deleteBoard(tx, board_id)
      emit('board.deleted', { id: board_id })
      done = 'boards_deleted'
      return
    }
    const isLastOwner = member.role === 'owner' && member.owners === 1
    if (isLastOwner) {
      await setRole(tx, { board_id, user_id: heirId }, 'owner')
      emit('board.updated', (await readBoard(tx, board_id)) as JsonText<Board>)
    }
    await removeMember(tx, key, member.json satisfies JsonText<BoardMember>, at, emit)
    done = isLastOwner ? 'boards_handed_over' : 'boards_left'
  })
  return done
}
