import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import { cacheBoard } from '../offline-cache.ts'

/** Caches the board for offline use: after loading, when the connection is lost, when the page is hidden, and on leaving. */
export function useCachedBoard({ status: { phase }, snapshot }: BoardState, user_id: string, isLoaded: boolean) {
  useEffect(() => {
    const save = () => {
      const now = snapshot()
      if (now) void cacheBoard(now, user_id)
    }
    const saveIfHidden = () => document.visibilityState === 'hidden' && save()
    if (isLoaded && (phase === 'live' || phase === 'connecting')) save()
    addEventListener('offline', save)
    document.addEventListener('visibilitychange', saveIfHidden)
    return () => {
      save()
      removeEventListener('offline', save)
      document.removeEventListener('visibilitychange', saveIfHidden)
    }
  }, [isLoaded, phase, snapshot, user_id])
}
