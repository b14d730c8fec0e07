import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import type { Removal } from '@lockstep/contract/removal'
import { v7 as newUuid } from 'uuid'
import type { Db, ResourceKey } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { readNewColumnState, renameRemovedCard, renameRemovedColumn } from './removal-queries.ts'

const DAY_MS = 86_400_000

/** When and how something is removed, as the API says it. `days`: how long deleted things are kept. */
export function removalOf(as: Removal['as'], at: string, by: string, days: number): Removal {
  const until = as === 'deleted' ? new Date(Date.parse(at) + days * DAY_MS).toISOString() : null
  return { as, at, by, until }
}

/** Adds `removed` to the JSON of a card or a column. */
export const withRemoval = <T extends Card | Column>(json: JsonText<T>, removed: Removal): JsonText<T> =>
  `${json.slice(0, -1)},"removed":${JSON.stringify(removed)}}` as JsonText<T>

/**
 * Makes the id of a deleted column available to a new one: the deleted one gets another id. An older client undoes a deletion by
 * creating the column again. The id of an archived column is taken, and that of a card.
 */
export async function releaseColumnId(db: Db, key: ResourceKey) {
  const state = await readNewColumnState(db, key)
  if (state?.removed_as === 'archived' || state?.is_of_card) throw new Problem('id_taken')
  if (state?.removed_as === 'deleted') await renameRemovedColumn(db, key, newUuid())
}

/** The same for a card. The id of an archived one is rejected by a constraint. */
export const releaseCardId = (db: Db, key: ResourceKey) => renameRemovedCard(db, key, newUuid())
