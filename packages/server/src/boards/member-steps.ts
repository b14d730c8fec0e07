import type { BoardMember } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { touchCards, unassignFromBoard } from '../cards/card-queries.ts'
import { readItems, unassignItemsOnBoard } from '../checklists/item-queries.ts'
import type { Emit } from '../core/event-log.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import { deleteMember, deleteStoredResponses, type MemberKey } from './member-queries.ts'

/**
 * Removes a member from a board: first each of their assignments, then the membership. Also deletes the responses stored for
 * their retries, so that a former member cannot read them.
 */
export async function removeMember(
  db: Db,
  key: MemberKey,
  member: JsonText<BoardMember>,
  at: string,
  emit: Emit<'card.unassigned' | 'checklist_item.unassigned' | 'board.member_removed'>,
) {
  const { board_id, user_id: subject_id } = key
  const [card_ids, item_ids] = await Promise.all([
    unassignFromBoard(db, board_id, subject_id),
    unassignItemsOnBoard(db, board_id, subject_id),
  ])
  const cards = await touchCards(db, board_id, card_ids, at)
  const growth = { text_bytes: -PERSON_BYTES }
  const metadata = { subject_id, isConsequence: true, growth } as const
  for (const card of cards) emit('card.unassigned', card.json, metadata)
  const items = await readItems(db, board_id, item_ids)
  for (const item of items) emit('checklist_item.unassigned', item.json, metadata)
  await Promise.all([deleteMember(db, key), deleteStoredResponses(db, key)])
  emit('board.member_removed', member, { subject_id, growth })
}
