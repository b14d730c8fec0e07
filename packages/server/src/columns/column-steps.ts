import type { Column } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import type { PlacementResult } from '../core/ordering/placement.ts'
import type { Db } from '../database/database.ts'
import { setColumnRanks } from './column-queries.ts'

/** Sets the new ranks of neighbours. Returns them in the order of their events. */
export async function moveNeighbours(
  db: Db,
  board_id: string,
  others: PlacementResult['others'],
): Promise<JsonText<Column>[]> {
  if (others.length === 0) return []
  const moved = await setColumnRanks(db, { board_id, parent_id: board_id }, others)
  return others.map(({ id }) => moved.get(id) as JsonText<Column>)
}
