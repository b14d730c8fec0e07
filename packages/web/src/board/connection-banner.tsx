import type { BoardState } from '@lockstep/client/react'
import { useBoardEvents } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { ConnectionMonitor, type ConnectionStatus } from './connection-status.ts'

const CHECK_MS = 250

/** The connection status. The object changes only when the status does. */
export function useConnection(state: BoardState): ConnectionStatus {
  const { board_id } = useTools()
  const [monitor] = useState(() => new ConnectionMonitor())
  const [connection, setConnection] = useState<ConnectionStatus>({ kind: 'live' })
  useBoardEvents(boardApi, board_id, (_event, { isOwn }) => {
    if (!isOwn) monitor.onRemoteChange(Date.now())
  })
  const { status } = state
  useEffect(() => {
    const check = () =>
      setConnection((before) => {
        const now = monitor.update(status, navigator.onLine, Date.now())
        return JSON.stringify(now) === JSON.stringify(before) ? before : now
      })
    check()
    const timer = setInterval(check, CHECK_MS)
    for (const type of ['online', 'offline']) addEventListener(type, check)
    return () => {
      clearInterval(timer)
      for (const type of ['online', 'offline']) removeEventListener(type, check)
    }
  }, [monitor, status])
  return connection
}

function bannerText(connection: ConnectionStatus): string | undefined {
  switch (connection.kind) {
    case 'offline':
      return connection.waiting === 0
        ? 'You can keep working. Your changes are saved and will be sent when you’re back online.'
        : `Your ${connection.waiting === 1 ? 'change is' : `${connection.waiting} changes are`} saved and will be sent when you’re back online.`
    case 'back':
      return connection.sent + connection.received === 0
        ? 'Everything is synced.'
        : `Everything is synced: ${connection.sent} ${connection.sent === 1 ? 'change' : 'changes'} sent, ${connection.received} received.`
    default:
      return undefined
  }
}

const labels = {
  live: 'Live',
  polling: 'Updating every few seconds',
  connecting: 'Connecting…',
  reconnecting: 'Reconnecting…',
  offline: 'Offline',
  back: 'Live',
}

export function ConnectionPill({ connection }: { connection: ConnectionStatus }) {
  const isLive = connection.kind === 'live' || connection.kind === 'back'
  return <span className={`pill${isLive ? ' is-live' : ''}`}>{labels[connection.kind]}</span>
}

/** Banner above the board while offline, and for a moment after the reconnect. */
export function ConnectionBanner({ connection, onRetry }: { connection: ConnectionStatus; onRetry: () => void }) {
  const text = bannerText(connection)
  const isOffline = connection.kind === 'offline'
  const heading = isOffline ? 'Offline.' : 'Back online.'
  useEffect(() => {
    if (text) announce(`${heading} ${text}`)
  }, [heading, text])
  if (!text) return null
  return (
    <section className={`banner${isOffline ? '' : ' is-good'}`} aria-label="Connection">
      <p>
        <b>{heading}</b> {text}
      </p>
      {isOffline && (
        <button type="button" className="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </section>
  )
}
