import type { BoardMember } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { touchCards, unassignFromBoard } from '../cards/card-queries.ts'
import { readItems, unassignItemsOnBoard } from '../checklists/item-queries.ts'
import type { Emit } from '../core/event-log.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import { deleteMember, dropAnswers } from './member-queries.ts'

/**
 * Takes a member from a board, and from all they were assigned to there: first each assignment, then the membership. Answers
 * that were stored for their retries go too: a former member gets no stored answers.
 */
export async function removeMember(
  db: Db,
  key: { board_id: string; user_id: string },
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
  const aside = { subject_id, isConsequence: true, growth } as const
  for (const card of cards) emit('card.unassigned', card.json, aside)
  const items = await readItems(db, board_id, item_ids)
  for (const item of items) emit('checklist_item.unassigned', item.json, aside)
  await Promise.all([deleteMember(db, key), dropAnswers(db, key)])
  emit('board.member_removed', member, { subject_id, growth })
}
