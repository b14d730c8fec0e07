import { randomUUID } from 'node:crypto'
import type { Board, BoardMember } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { deleteBoard, readBoard } from '../boards/board-queries.ts'
import { readMember, setRole } from '../boards/member-queries.ts'
import { removeMember } from '../boards/member-steps.ts'
import { changeBoardAsSystem, type SystemServices } from '../core/change-board.ts'
import { readUser } from '../users/user-queries.ts'
import { type Actor, administer, record } from './admin-steps.ts'
import {
  anonymizeUser,
  findCommentedBoards,
  findFormerBoards,
  findNewOwner,
  invalidateCopies,
  listMemberships,
  renameInComments,
  renameInEvents,
} from './erase-queries.ts'

export interface Erased {
  boards_left: number
  boards_handed_over: number
  boards_deleted: number
  events_renamed: number
}

/**
 * Erases a user in three steps: anonymizes the account and revokes its tokens; removes the user from their boards, one change
 * each; replaces the name in comments that mention them and in the logs of these boards. Nothing written after the first step contains the name, so a processed
 * board stays clean. Idempotent: after an interruption, running it again completes it.
 */
export async function eraseUser(core: SystemServices, actor: Actor, user_id: string): Promise<Erased> {
  const { database } = core
  await administer(database, {
    actor,
    action: 'erase',
    target_id: user_id,
    allows: { erased: true },
    work: async (tx, { is_erased }) => {
      // Random, so that nobody can register the name first.
      if (!is_erased) await anonymizeUser(tx, user_id, `erased-${randomUUID()}`)
      return { result: undefined, ...(!is_erased && { details: {} }) }
    },
  })
  const erased: Erased = { boards_left: 0, boards_handed_over: 0, boards_deleted: 0, events_renamed: 0 }
  for (const board_id of await listMemberships(database, user_id)) {
    const outcome = await leaveBoard(core, { board_id, user_id })
    if (outcome) erased[outcome]++
  }
  const profile = (await readUser(database, user_id)) as string
  // Before the log: a comment that is being deleted is found here, or its event there.
  const commented = await findCommentedBoards(database, user_id)
  for (const board_id of commented)
    await changeBoardAsSystem(core, board_id, ({ tx }) => renameInComments(tx, { board_id, user_id }))
  const former = await findFormerBoards(database, user_id)
  for (const board_id of new Set([...former, ...commented])) {
    erased.events_renamed += await renameInEvents(database, board_id, user_id, profile)
    await invalidateCopies(database, { board_id, user_id })
  }
  await record(database, actor, 'erased', user_id, { ...erased })
  return erased
}

/** Removes the user from a board. Deletes the board if there is no other member; a last owner is replaced by the oldest member. */
async function leaveBoard(core: SystemServices, key: { board_id: string; user_id: string }) {
  const { board_id } = key
  let outcome: 'boards_left' | 'boards_handed_over' | 'boards_deleted' | undefined
  await changeBoardAsSystem(core, board_id, async ({ tx, at, emit }) => {
    const [member, newOwnerId] = await Promise.all([readMember(tx, key), findNewOwner(tx, key)])
    if (!member) return
    if (newOwnerId === undefined) {
      await deleteBoard(tx, board_id)
      emit('board.deleted', { id: board_id })
      outcome = 'boards_deleted'
      return
    }
    const isLastOwner = member.role === 'owner' && member.owners === 1
    if (isLastOwner) {
      await setRole(tx, { board_id, user_id: newOwnerId }, 'owner')
      emit('board.updated', (await readBoard(tx, board_id)) as JsonText<Board>)
    }
    await removeMember(tx, key, member.json satisfies JsonText<BoardMember>, at, emit)
    outcome = isLastOwner ? 'boards_handed_over' : 'boards_left'
  })
  return outcome
}
