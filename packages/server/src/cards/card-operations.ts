import { type Card, cardOperations } from '@lockstep/contract/cards'
import type { Label } from '@lockstep/contract/labels'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import { assignmentTo } from '../core/notifications.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import { type Handlers, withPrefetch } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { labelBytes, readLabel } from '../labels/label-queries.ts'
import { Problem } from '../platform/problem.ts'
import { detach } from '../removals/removal-queries.ts'
import { releaseCardId, removalOf, withRemoval } from '../removals/removal-steps.ts'
import {
  addCardLabel,
  assignCard,
  deleteCard,
  findCardRank,
  insertCard,
  readCard,
  readCardLabelling,
  readCardMove,
  readNewCardState,
  readUnassignedUsers,
  removeCardLabel,
  setCardRanks,
  touchCards,
  unassignCard,
  updateCard,
} from './card-queries.ts'
import { findCards } from './card-search-queries.ts'
import { emitAssignments, moveCardTo } from './card-steps.ts'

const fieldsOf = newFields(cardOperations.createCard)
const textBytes = textBytesOf('card')

export const cardHandlers = (trashDays: number): Handlers<typeof cardOperations> => ({
  createCard: withPrefetch(
    ({ db, board_id, params: { column_id }, body }) =>
      Promise.all([
        readNewCardState(db, { board_id, id: body.id ?? null, column_id }),
        findCardRank(db, { board_id, parent_id: column_id, moved_id: null }, body),
      ]),
    async (
      { db, board_id, params: { column_id }, newId, at, nextCardNumber, body, emit },
      [state, { rank, others }],
    ) => {
      if (!state.hasColumn) throw new Problem('column_not_found')
      if (state.isOfColumn) throw new Problem('id_taken')
      if (state.isDeleted) await releaseCardId(db, { board_id, id: newId })
      if (others.length > 0) {
        const moved = await setCardRanks(db, { board_id, parent_id: column_id }, others)
        for (const { id } of others)
          emit('card.moved', moved.get(id) as JsonText<Card>, { by: null, from_id: column_id, card_id: null })
      }
      const fields = fieldsOf(body)
      const card = await insertCard(db, { board_id, id: newId, column_id, rank, number: nextCardNumber, at }, fields)
      const growth = { text_bytes: textBytes(fields), card_count: 1, card_numbers: 1 }
      emit('card.created', card, { card_id: newId, growth })
      return card
    },
  ),

  findCards: (context) =>
    readPage(cardOperations.findCards, context, ({ id, limit }) => {
      const { db, board_id, query } = context
      return findCards(db, board_id, query, { after: id ?? query.after ?? null, limit })
    }),

  getCard: ({ db, board_id, params }) => requireCard(db, { board_id, id: params.card_id }),

  async updateCard({ db, board_id, params: { card_id: id }, body, at, emit }) {
    const changed = await updateCard(db, { board_id, id }, body, at)
    if (!changed) return requireCard(db, { board_id, id })
    const { json, text_bytes } = changed
    emit('card.updated', json, { card_id: id, growth: { text_bytes } })
    return json
  },

  async deleteCard({ db, board_id, params, at, caller, emit }) {
    const key = { board_id, id: params.card_id }
    const card = await requireCard(db, key)
    if (trashDays === 0) {
      emit('card.deleted', card, { card_id: key.id, growth: await deleteCard(db, key) })
      return
    }
    const removed = withRemoval(card, removalOf('deleted', at, caller.id, trashDays))
    const freed_bytes = await detach(db, key, { as: 'deleted', at, user_id: caller.id })
    emit('card.deleted', removed, { card_id: key.id, growth: { freed_bytes } })
  },

  async archiveCard({ db, board_id, params, at, caller, emit }) {
    const key = { board_id, id: params.card_id }
    const card = withRemoval(await requireCard(db, key), removalOf('archived', at, caller.id, trashDays))
    await detach(db, key, { as: 'archived', at, user_id: caller.id })
    emit('card.deleted', card, { card_id: key.id })
    return card
  },

  moveCard: withPrefetch(
    async ({ db, board_id, params: { card_id: id }, body }) => {
      const { column_id } = body
      const [move, target] = await Promise.all([
        readCardMove(db, { board_id, id }, column_id ?? null),
        column_id && findCardRank(db, { board_id, parent_id: column_id, moved_id: id }, body),
      ])
      return { move, target }
    },
    async ({ db, board_id, params: { card_id: id }, body, at, emit }, { move, target }) => {
      if (!move) throw new Problem('card_not_found')
      if (!move.column_id) throw new Problem('column_not_found')
      const { from_id, column_id, starts_rule } = move
      if (!target || target.others.length > 0)
        return moveCardTo({ db, board_id, card_id: id, at }, emit, { from_id, column_id }, body)
      const moved = await setCardRanks(db, { board_id, parent_id: column_id, moved_id: id, at }, [
        { id, rank: target.rank },
      ])
      const card = moved.get(id) as JsonText<Card>
      emit('card.moved', card, { card_id: id, from_id, startsNoRule: !starts_rule })
      return card
    },
  ),

  assignCard: withPrefetch(
    async ({ db, board_id, params: { card_id: id }, body }) => {
      const user_ids = [...new Set(body.user_ids)]
      const [added] = await Promise.all([
        readUnassignedUsers(db, { board_id, id }, user_ids),
        user_ids.length > 0 && requireMembers(db, board_id, user_ids),
      ])
      return { user_ids, added }
    },
    async ({ db, board_id, params: { card_id: id }, at, emit }, { user_ids, added }) => {
      if (!added) throw new Problem('card_not_found')
      if (user_ids.length === 0) return requireCard(db, { board_id, id })
      const key = { board_id, id }
      // One batch: the card is read after its users are assigned.
      const [, json] = await Promise.all([added.length > 0 && assignCard(db, key, added), touchCard(db, key, at)])
      emitAssignments(emit, json, { card_id: id }, { user_ids, added })
      return json
    },
  ),

  async unassignCard({ db, board_id, params, at, emit }) {
    const key = { board_id, id: params.card_id }
    if (!(await unassignCard(db, key, params.user_id))) return
    const growth = { text_bytes: -PERSON_BYTES }
    const withdraws = [assignmentTo(params.user_id, key.id)]
    emit('card.unassigned', await touchCard(db, key, at), {
      card_id: key.id,
      subject_id: params.user_id,
      growth,
      withdraws,
    })
  },

  addCardLabel: withPrefetch(
    ({ db, board_id, params: { card_id, label_id } }) => readCardLabelling(db, { board_id, id: card_id }, label_id),
    async ({ db, board_id, params: { card_id, label_id }, at, emit }, read) => {
      if (!read) throw new Problem('card_not_found')
      const { label, is_labelled, starts_rule } = read
      if (label === null) throw new Problem('label_not_found')
      const key = { board_id, id: card_id }
      if (is_labelled) return requireCard(db, key)
      const [, card] = await Promise.all([addCardLabel(db, key, label_id), touchCard(db, key, at)])
      const growth = { text_bytes: labelBytes(JSON.parse(label) as Label) }
      emit('card.labeled', card, { card_id, subject_id: label_id, growth, startsNoRule: !starts_rule })
      return card
    },
  ),

  async removeCardLabel({ db, board_id, params: { card_id, label_id }, at, emit }) {
    const key = { board_id, id: card_id }
    const text_bytes = await bytesOfLabel(db, { board_id, id: label_id })
    if (!(await removeCardLabel(db, key, label_id))) return
    const growth = { text_bytes: -text_bytes }
    emit('card.unlabeled', await touchCard(db, key, at), { card_id, subject_id: label_id, growth })
  },
})

async function bytesOfLabel(db: Db, key: ResourceKey): Promise<number> {
  const label = await readLabel(db, key)
  if (!label) throw new Problem('label_not_found')
  return labelBytes(JSON.parse(label) as Label)
}

async function requireCard(db: Db, key: ResourceKey): Promise<JsonText<Card>> {
  const card = await readCard(db, key)
  if (!card) throw new Problem('card_not_found')
  return card
}

async function touchCard(db: Db, { board_id, id }: ResourceKey, at: string): Promise<JsonText<Card>> {
  const [card] = await touchCards(db, board_id, [id], at)
  if (!card) throw new Problem('card_not_found')
  return card.json
}
