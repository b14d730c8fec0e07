import { useBoardSelector } from '@lockstep/client/react'
import { useSyncExternalStore } from 'react'
import { boardApi } from './board-api.ts'
import { useTools } from './board-tools.ts'

function subscribe(listener: () => void) {
  for (const type of ['online', 'offline']) addEventListener(type, listener)
  return () => {
    for (const type of ['online', 'offline']) removeEventListener(type, listener)
  }
}

/** Whether the server cannot be reached. A device that goes offline tells it before the connection does. */
export function useOffline(): boolean {
  const isDeviceOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  const isUnreachable = useBoardSelector(boardApi, useTools().board_id, ({ status }) => status.phase === 'offline')
  return isUnreachable || !isDeviceOnline
}
