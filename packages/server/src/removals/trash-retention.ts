import { changeBoardAsSystem, type SystemServices } from '../core/change-board.ts'
import { listBoardsWithExpiredTrash, purgeExpired } from '../core/trash.ts'

/** Deletes trash older than its retention for good, board by board under its lock. Returns how many cards and columns. */
export async function deleteExpiredTrash(core: SystemServices, days: number): Promise<number> {
  let total = 0
  for (const board_id of await listBoardsWithExpiredTrash(core.database, days))
    for (let removed = await purgeBatch(core, board_id, days); removed > 0; ) {
      total += removed
      removed = await purgeBatch(core, board_id, days)
    }
  return total
}

/** Zero when nothing is left, also when the board was deleted meanwhile. */
async function purgeBatch(core: SystemServices, board_id: string, days: number): Promise<number> {
  let purged = 0
  await changeBoardAsSystem(core, board_id, async ({ tx, grow }) => {
    const { removed, ...growth } = await purgeExpired(tx, board_id, days)
    purged = removed
    if (removed > 0) grow(growth)
  })
  return purged
}
