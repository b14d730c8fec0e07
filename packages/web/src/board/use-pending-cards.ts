import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import type { BoardTools } from './board-tools.ts'

/** Most changes are confirmed before anybody could see that they were not. */
const NOTICED_MS = 400

/** Tells which cards have changes that are not confirmed for a while. */
export function usePendingCards(tools: BoardTools, { pending }: BoardState) {
  useEffect(() => {
    const ids = new Set(
      pending.flatMap(({ change: { input } }) => {
        const { card_id, id } = input as { card_id?: string; id?: string }
        return [card_id ?? id ?? '']
      }),
    )
    if (ids.size === 0) return tools.pending.set(ids)
    const timer = setTimeout(() => tools.pending.set(ids), NOTICED_MS)
    return () => clearTimeout(timer)
  }, [pending, tools])
}
