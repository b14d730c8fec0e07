import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import { keepBoard } from '../kept-data.ts'

/** Stores the board for when there is no network: when it is loaded, when the connection is lost, when the page is hidden, and when the user leaves the board. */
export function useKeptBoard({ status: { phase }, snapshot }: BoardState, user_id: string, is_loaded: boolean) {
  useEffect(() => {
    const save = () => {
      const now = snapshot()
      if (now) void keepBoard(now, user_id)
    }
    const saveHidden = () => document.visibilityState === 'hidden' && save()
    if (is_loaded && (phase === 'live' || phase === 'connecting')) save()
    addEventListener('offline', save)
    document.addEventListener('visibilitychange', saveHidden)
    return () => {
      save()
      removeEventListener('offline', save)
      document.removeEventListener('visibilitychange', saveHidden)
    }
  }, [is_loaded, phase, snapshot, user_id])
}
