import type { Card } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import { type DetailedRemovedItem, type Restored, removalOperations } from '@lockstep/contract/removals'
import { v7 as newUuid } from 'uuid'
import { findCardRank, hasColumn, setCardRanks } from '../cards/card-queries.ts'
import { findColumnRank, insertColumn, readColumn } from '../columns/column-queries.ts'
import { moveNeighbours } from '../columns/column-steps.ts'
import type { PlacementResult, PositionInput } from '../core/ordering/placement.ts'
import { purgeRemoved } from '../core/trash.ts'
import type { ChangeContext, Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import {
  attachColumnCards,
  findCardPlace,
  findColumnPlace,
  findRemoval,
  forgetRemoval,
  isColumnIdTaken,
  listRemovals,
  readRemoved,
  type StoredRemoval,
} from './removal-queries.ts'

type Restore = ChangeContext<typeof removalOperations.restoreRemoved>

export const removalHandlers = (trashDays: number): Handlers<typeof removalOperations> => ({
  listRemoved: (context) =>
    readPage(removalOperations.listRemoved, context, (page) => {
      const { as = null, kind = null, search = null, column_id = null } = context.query
      return listRemovals(context.db, context.board_id, trashDays, { as, kind, search, column_id }, page)
    }),

  async getRemoved({ db, board_id, params }) {
    const json = await readRemoved(db, { board_id, id: params.removed_id }, trashDays)
    if (!json) throw new Problem('removed_not_found')
    return json as JsonText<DetailedRemovedItem>
  },

  async restoreRemoved(change) {
    const { db, board_id, params } = change
    const removal = await findRemoval(db, { board_id, id: params.removed_id })
    if (!removal) throw new Problem('removed_not_found')
    return removal.kind === 'card' ? restoreCard(change, removal) : restoreColumn(change, removal)
  },

  async purgeRemoved({ db, board_id, params, grow }) {
    const { removed, ...growth } = await purgeRemoved(db, { board_id, id: params.removed_id })
    if (removed === 0) throw new Problem('removed_not_found')
    grow(growth)
  },
})

/** The place in the request; undefined when it has none. */
const givenPlace = ({ position, after_id }: PositionInput): PositionInput | undefined =>
  position == null && after_id === undefined
    ? undefined
    : { position: position ?? null, ...(after_id !== undefined && { after_id }) }

/** With its former rank it is in order also with what is restored later. */
const keepRank = ({ rank }: StoredRemoval): PlacementResult => ({ rank, others: [] })

/** Back to its column, or to the given one. */
async function restoreCard({ db, board_id, params, body, emit }: Restore, removal: StoredRemoval) {
  const id = params.removed_id
  const column_id = body.column_id ?? (removal.column_id as string)
  if (!(await hasColumn(db, { board_id, id: column_id })))
    throw new Problem(body.column_id ? 'column_not_found' : 'column_required')
  const isSameColumn = column_id === removal.column_id
  const given = givenPlace(body)
  const former = !given && isSameColumn ? await findCardPlace(db, board_id, column_id, removal.rank) : undefined
  const { rank, others } =
    former?.isTaken === false
      ? keepRank(removal)
      : await findCardRank(db, { board_id, parent_id: column_id, moved_id: id }, given ?? former ?? {})
  const placed = await setCardRanks(db, { board_id, parent_id: column_id }, [...others, { id, rank }])
  await forgetRemoval(db, { board_id, id })
  for (const other of others)
    emit('card.moved', placed.get(other.id) as JsonText<Card>, { by: null, card_id: null, from_id: column_id })
  const card = placed.get(id) as JsonText<Card>
  emit('card.created', card, { card_id: id })
  return `{"card":${card},"column":null}` as JsonText<Restored>
}

/** With the cards that left with it. If another board uses its id now, the column gets a new one. */
async function restoreColumn({ db, board_id, params, body, emit }: Restore, removal: StoredRemoval) {
  const key = { board_id, id: params.removed_id }
  const id = (await isColumnIdTaken(db, key.id)) ? newUuid() : key.id
  const given = givenPlace(body)
  const former = given ? undefined : await findColumnPlace(db, board_id, removal.rank)
  const { rank, others } =
    former?.isTaken === false
      ? keepRank(removal)
      : await findColumnRank(db, { board_id, parent_id: board_id, moved_id: null }, given ?? former ?? {})
  for (const other of await moveNeighbours(db, board_id, others)) emit('column.moved', other, { by: null })
  const { title, color, is_done_column } = removal
  await insertColumn(db, { id, board_id, title, color, is_done_column, rank })
  await attachColumnCards(db, key, id)
  const column = await readColumn(db, { board_id, id })
  if (!column) throw new Problem('column_not_found')
  emit('column.created', column)
  return `{"card":null,"column":${column}}` as JsonText<Restored>
}
