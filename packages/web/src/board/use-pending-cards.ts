import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'

/** Most changes are confirmed within this time; then nothing is shown. */
const DELAY_MS = 400

/** Marks cards whose changes have been unconfirmed for a while. */
export function usePendingCards(tools: BoardTools, { pending }: BoardState) {
  useEffect(() => {
    const ids = new Set(
      pending.flatMap(({ change: { input } }) => {
        const { card_id, id } = input as { card_id?: string; id?: string }
        return [card_id ?? id ?? '']
      }),
    )
    if (ids.size === 0) return tools.pending.set(ids)
    const timer = setTimeout(() => tools.pending.set(ids), DELAY_MS)
    return () => clearTimeout(timer)
  }, [pending, tools])
}
