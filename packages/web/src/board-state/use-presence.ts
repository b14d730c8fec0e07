import type { BoardState } from '@lockstep/client/react'
import { useStore } from '../ui/store.ts'
import { useTools } from './board-tools.ts'
import { useShownBoard } from './shown-board.ts'

/** The users who are connected to the board. Unknown while the page shows that it is offline. */
export function usePresence(): BoardState['presence'] {
  const { isOffline } = useTools()
  const { state } = useShownBoard()
  return useStore(isOffline) ? [] : state.presence
}
