import { type DetailedRemovedItem, isLockstepError } from '@lockstep/client'
import { useCallback, useEffect, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { client } from '../session.ts'

interface RemovedItemState {
  item?: DetailedRemovedItem
  /** It was restored or deleted for good, or never existed. */
  isGone?: boolean
  failure?: unknown
}

/** Something that left the board. Loaded when the board is up to date: until then it may be one that has just come. */
export function useRemovedItem(removed_id: string): RemovedItemState & { reload: () => void } {
  const { board_id } = useTools()
  const { status } = useShownBoard()
  const isCurrent = status.phase === 'live' || status.phase === 'polling'
  const [state, setState] = useState<RemovedItemState & { id?: string }>({})
  const load = useCallback(
    async (signal?: AbortSignal) => {
      try {
        const item = await client.getRemoved({ board_id, removed_id }, { signal })
        setState({ id: removed_id, item })
      } catch (failure) {
        if (signal?.aborted) return
        const isGone = isLockstepError(failure) && (failure.status === 404 || failure.status === 422)
        setState({ id: removed_id, ...(isGone ? { isGone } : { failure }) })
      }
    },
    [board_id, removed_id],
  )
  useEffect(() => {
    if (!isCurrent) return
    const controller = new AbortController()
    void load(controller.signal)
    return () => controller.abort()
  }, [load, isCurrent])
  // Not those of the item before.
  const { item, isGone = false, failure } = state.id === removed_id ? state : {}
  return { ...(item && { item }), isGone, failure, reload: () => void load() }
}
