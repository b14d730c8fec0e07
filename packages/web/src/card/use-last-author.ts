import type { Card } from '@lockstep/client'
import { useBoardSelector } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { client } from '../session.ts'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** How many of the latest events are searched. */
const MAX_EVENTS = 50
/** The log is read after the card is shown and its own changes are confirmed. */
const DELAY_MS = 500

/** The user who made the last change to a card. `undefined` if it is not among the latest events of the board. */
export function useLastAuthor({ updated_at }: Card): string | undefined {
  const tools = useTools()
  const board = useShownBoard()
  const { board_id } = tools
  const snapshot = useBoardSelector(boardApi, board_id, (state) => state.snapshot)
  const isLive = useBoardSelector(boardApi, board_id, ({ status }) => status.phase === 'live')
  const [found, setFound] = useState<{ at: string; user_id: string }>()
  useEffect(() => {
    if (!isLive) return
    const controller = new AbortController()
    const load = async () => {
      const position = snapshot()?.position
      if (!position) return
      const [epoch, seq] = position.split('.')
      const after = `${epoch}.${Math.max(0, Number(seq) - MAX_EVENTS)}`
      const { signal } = controller
      const events = await client.listEvents({ board_id, after, limit: MAX_EVENTS }, { signal })
      // A change sets the card's time to the time of its event.
      const user_id = events.findLast(({ timestamp }) => timestamp === updated_at)?.user_id
      if (user_id) setFound({ at: updated_at, user_id })
    }
    // Without the log the date is shown alone.
    const timer = setTimeout(() => void load().catch(() => {}), DELAY_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [board_id, isLive, snapshot, updated_at])
  if (found?.at !== updated_at) return undefined
  const user = board.member(found.user_id)
  return found.user_id === tools.me.id ? t.you : user && (user.firstname ?? nameOf(user))
}
