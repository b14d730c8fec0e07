import { useSyncExternalStore } from 'react'
import { useShownBoard } from './shown-board.ts'

function subscribe(listener: () => void) {
  for (const type of ['online', 'offline']) addEventListener(type, listener)
  return () => {
    for (const type of ['online', 'offline']) removeEventListener(type, listener)
  }
}

/** Whether the server cannot be reached. A device that goes offline tells it before the connection does. */
export function useOffline(): boolean {
  const isDeviceOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return useShownBoard().status.phase === 'offline' || !isDeviceOnline
}
