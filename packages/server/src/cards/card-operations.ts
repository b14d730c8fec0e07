import type { Card, cardOperations } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import type { Db } from '../core/database.ts'
import { Problem } from '../core/problem.ts'
import { askFirst, type Handlers, pathOf } from '../core/serve.ts'
import { readLabel } from '../labels/label-queries.ts'
import {
  addCardLabel,
  deleteCard,
  findCardPlace,
  hasColumn,
  insertCard,
  placeCard,
  placeCards,
  readCard,
  readMove,
  removeCardLabel,
  touchCards,
  unassignCard,
  updateCard,
} from './card-queries.ts'
import { findCards } from './card-search-queries.ts'
import { assignToCard, moveCardTo } from './card-steps.ts'

export const cardHandlers: Handlers<typeof cardOperations> = {
  createCard: askFirst(
    ({ db, board_id, params: { column_id }, body }) =>
      Promise.all([
        hasColumn(db, { board_id, id: column_id }),
        findCardPlace(db, { board_id, parent_id: column_id, moved_id: null }, body),
      ]),
    async ({ db, board_id, params: { column_id }, new_id, at, body, emit }, [isThere, { rank, others }]) => {
      if (!isThere) throw new Problem('column_not_found')
      if (others.length > 0) {
        const placed = await placeCards(db, { board_id, column_id, moved_id: null, at }, others)
        for (const { id } of others)
          emit('card.moved', placed.get(id) as JsonText<Card>, { by: null, from_id: column_id })
      }
      const { title, description = null } = body
      const card = insertCard(db, { board_id, id: new_id, column_id, title, description, rank, at })
      emit('card.created', card)
      return card
    },
  ),

  async findCards({ db, board_id, query, request, reply }) {
    const limit = query.limit ?? 50
    // One more than asked for tells whether there is a next page.
    const found = await findCards(db, board_id, query, { after: query.after ?? null, limit: limit + 1 })
    const cards = found.slice(0, limit)
    const last = cards.at(-1)
    if (last && found.length > limit) {
      const next = new URLSearchParams({ ...query, limit: String(limit), after: last.id }).toString()
      reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
    }
    return `[${cards.map((card) => card.json).join(',')}]` as JsonText<Card[]>
  },

  getCard: ({ db, board_id, params }) => requireCard(db, { board_id, id: params.card_id }),

  async updateCard({ db, board_id, params, body, at, emit }) {
    const key = { board_id, id: params.card_id }
    const card = await updateCard(db, key, body, at)
    if (!card) return requireCard(db, key)
    emit('card.updated', card)
    return card
  },

  async deleteCard({ db, board_id, params, emit }) {
    const key = { board_id, id: params.card_id }
    emit('card.deleted', await requireCard(db, key))
    await deleteCard(db, key)
  },

  moveCard: askFirst(
    async ({ db, board_id, params: { card_id: id }, body }) => {
      const { column_id } = body
      const [move, place] = await Promise.all([
        readMove(db, { board_id, id }, column_id ?? null),
        column_id && findCardPlace(db, { board_id, parent_id: column_id, moved_id: id }, body),
      ])
      return { move, place }
    },
    async ({ db, board_id, params: { card_id: id }, body, at, emit }, { move, place }) => {
      if (!move?.column_id) throw new Problem('column_not_found')
      const { from_id, column_id, json } = move
      if (!place || place.others.length > 0)
        return moveCardTo({ db, board_id, card_id: id, at }, emit, { from_id, column_id }, body)
      const card = placeCard(db, { board_id, card: json, at }, { column_id, rank: place.rank })
      emit('card.moved', card, { from_id })
      return card
    },
  ),

  async assignCard({ db, board_id, params, body, at, emit }) {
    const key = { board_id, id: params.card_id }
    const user_ids = [...new Set(body.user_ids)]
    if (user_ids.length === 0) return requireCard(db, key)
    await requireMembers(db, board_id, user_ids)
    return assignToCard({ db, board_id, card_id: params.card_id, at }, emit, user_ids)
  },

  async unassignCard({ db, board_id, params, at, emit }) {
    const key = { board_id, id: params.card_id }
    if (!(await unassignCard(db, key, params.user_id))) return
    emit('card.unassigned', await touchCard(db, key, at), { subject_id: params.user_id })
  },

  async addCardLabel({ db, board_id, params: { card_id, label_id }, at, emit }) {
    const key = { board_id, id: card_id }
    if (!(await readLabel(db, { board_id, id: label_id }))) throw new Problem('label_not_found')
    if (!(await addCardLabel(db, key, label_id))) return requireCard(db, key)
    const card = await touchCard(db, key, at)
    emit('card.labeled', card, { subject_id: label_id })
    return card
  },

  async removeCardLabel({ db, board_id, params: { card_id, label_id }, at, emit }) {
    const key = { board_id, id: card_id }
    if (!(await readLabel(db, { board_id, id: label_id }))) throw new Problem('label_not_found')
    if (!(await removeCardLabel(db, key, label_id))) return
    emit('card.unlabeled', await touchCard(db, key, at), { subject_id: label_id })
  },
}

async function requireCard(db: Db, key: { board_id: string; id: string }): Promise<JsonText<Card>> {
  const card = await readCard(db, key)
  if (!card) throw new Problem('card_not_found')
  return card
}

async function touchCard(
  db: Db,
  { board_id, id }: { board_id: string; id: string },
  at: string,
): Promise<JsonText<Card>> {
  const [card] = await touchCards(db, board_id, [id], at)
  if (!card) throw new Problem('card_not_found')
  return card.json
}
