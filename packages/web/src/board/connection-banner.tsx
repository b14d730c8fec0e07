import type { BoardState } from '@lockstep/client/react'
import { useBoardEvents } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { ConnectionMonitor, type ConnectionStatus } from './connection-status.ts'
import { t } from './messages.ts'

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
      return connection.waiting === 0 ? t.keepWorking : t.changesWaiting({ count: connection.waiting })
    case 'back':
      return connection.sent + connection.received === 0
        ? t.synced
        : t.syncedChanges({ count: connection.sent, received: connection.received })
    default:
      return undefined
  }
}

const labels = {
  live: t.live,
  polling: t.polling,
  connecting: t.connecting,
  reconnecting: t.reconnecting,
  saving: t.saving,
  offline: t.offline,
  back: t.live,
}

/** The connection status. It is visible only when something is wrong. */
export function ConnectionPill({ connection }: { connection: ConnectionStatus }) {
  const isLive = connection.kind === 'live' || connection.kind === 'back'
  return <span className={isLive ? 'visually-hidden' : 'pill'}>{labels[connection.kind]}</span>
}

/** Banner above the board while offline, and for a moment after the reconnect. */
export function ConnectionBanner({ connection, onRetry }: { connection: ConnectionStatus; onRetry: () => void }) {
  const text = bannerText(connection)
  const isOffline = connection.kind === 'offline'
  const heading = isOffline ? t.offlineHeading : t.backHeading
  useEffect(() => {
    if (text) announce(`${heading} ${text}`)
  }, [heading, text])
  if (!text) return null
  return (
    <section className={`banner${isOffline ? '' : ' is-good'}`} aria-label={t.connection}>
      <p>
        <b>{heading}</b> {text}
      </p>
      {isOffline && (
        <button type="button" className="button" onClick={onRetry}>
          {t.retry}
        </button>
      )}
    </section>
  )
}
