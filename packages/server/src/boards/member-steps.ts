import type { BoardMember } from '@lockstep/contract/boards'
import type { JsonText, Role } from '@lockstep/contract/operation'
import { record } from '../administration/admin-steps.ts'
import { touchCards, unassignFromBoard } from '../cards/card-queries.ts'
import { readItems, unassignItemsOnBoard } from '../checklists/item-queries.ts'
import type { Caller } from '../core/authorize.ts'
import type { BeforeCommit } from '../core/change-board.ts'
import type { Emit } from '../core/event-log.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import {
  addMember,
  deleteMember,
  deleteStoredResponses,
  type MemberKey,
  type Membership,
  readMember,
} from './member-queries.ts'

/** Adds a user to a board. */
export async function addNewMember(db: Db, key: MemberKey, role: Role, emit: Emit<'board.member_added'>) {
  if (!(await addMember(db, key, role))) throw new Problem('already_a_member')
  const { json } = (await readMember(db, key)) as Membership
  emit('board.member_added', json, {
    subject_id: key.user_id,
    growth: { text_bytes: PERSON_BYTES },
    notifies: [{ user_id: key.user_id, reason: 'added', card_id: null }],
  })
}

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
  for (const card of cards) emit('card.unassigned', card.json, { ...metadata, card_id: card.id })
  const items = await readItems(db, board_id, item_ids)
  for (const { json, card_id } of items) emit('checklist_item.unassigned', json, { ...metadata, card_id })
  // Assignments of archived and deleted cards end without an event.
  const others = card_ids.length - cards.length + item_ids.length - items.length
  await Promise.all([deleteMember(db, key), deleteStoredResponses(db, key)])
  emit('board.member_removed', member, { subject_id, growth: { text_bytes: -PERSON_BYTES * (1 + others) } })
}

interface MemberChange {
  db: Db
  caller: Caller
  beforeCommit: BeforeCommit
}
/**
 * Superusers can give rights to themselves and others, and a stolen access token rights that remain when it is revoked. So the
 * audit log has their changes of members.
 */
export async function recordChange(
  { db, caller, beforeCommit }: MemberChange,
  limits: RateLimits,
  action: string,
  { board_id, user_id }: MemberKey,
  details = {},
) {
  const { id: actor_id, is_superuser, token, credential } = caller
  if (!(is_superuser || token)) return
  const withToken = token && { token_id: credential.token_id, token_name: token.name }
  await record(db, { actor_id }, action, user_id, { board_id, ...details, ...withToken })
  if (token) beforeCommit(() => limits.tokenMemberChange(actor_id))
}
