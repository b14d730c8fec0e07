import type { Column, FullBoard } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'
import { newCardPlace } from '../board-state/new-card-place.ts'
import { useStore, useStorePart } from '../ui/store.ts'

/** The column to which “New card” adds. */
export function useNewCardColumn(tools: BoardTools, view: FullBoard): Column | undefined {
  const inSight = useStore(tools.columnInSight)
  return useStorePart(tools.focus, (focus) => newCardPlace(view, focus, inSight)?.column)
}
