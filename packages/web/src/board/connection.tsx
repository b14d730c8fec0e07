import type { BoardState } from '@lockstep/client/react'
import { useBoardEvents } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { boardApi } from './board-api.ts'
import { useTools } from './board-tools.ts'
import { ConnectionStory, type Told } from './connection-story.ts'

const LOOK_MS = 250

/** How the line is doing, in words that change only when there is something to say. */
export function useConnection(state: BoardState): Told {
  const { board_id } = useTools()
  const [story] = useState(() => new ConnectionStory())
  const [told, setTold] = useState<Told>({ kind: 'live' })
  useBoardEvents(boardApi, board_id, (_event, { isOwn: is_own }) => {
    if (!is_own) story.hear(Date.now())
  })
  const { status } = state
  useEffect(() => {
    const look = () =>
      setTold((before) => {
        const now = story.tell(status, navigator.onLine, Date.now())
        return JSON.stringify(now) === JSON.stringify(before) ? before : now
      })
    look()
    const timer = setInterval(look, LOOK_MS)
    for (const type of ['online', 'offline']) addEventListener(type, look)
    return () => {
      clearInterval(timer)
      for (const type of ['online', 'offline']) removeEventListener(type, look)
    }
  }, [story, status])
  return told
}

function sentenceOf(told: Told): string | undefined {
  switch (told.kind) {
    case 'offline':
      return told.waiting === 0
        ? 'You can go on working: what you change is kept here and sent when the connection returns.'
        : `Your ${told.waiting === 1 ? 'change is' : `${told.waiting} changes are`} kept here and will be sent when the connection returns.`
    case 'back':
      return told.sent + told.received === 0 ? 'Nothing was missed.' : `${told.sent} sent, ${told.received} received.`
    default:
      return undefined
  }
}

const words = {
  live: 'Live',
  polling: 'Updated every few seconds',
  connecting: 'Connecting…',
  reconnecting: 'Reconnecting…',
  offline: 'Offline',
  back: 'Live',
}

export function LivePill({ told }: { told: Told }) {
  const isLive = told.kind === 'live' || told.kind === 'back'
  return <span className={`pill${isLive ? ' is-live' : ''}`}>{words[told.kind]}</span>
}

/** The banner over the board while the line is away, and for a moment after it is back. */
export function Connection({ told, onRetry }: { told: Told; onRetry: () => void }) {
  const sentence = sentenceOf(told)
  const isOffline = told.kind === 'offline'
  const heading = isOffline ? 'Offline.' : 'Back online.'
  useEffect(() => {
    if (sentence) announce(`${heading} ${sentence}`)
  }, [heading, sentence])
  if (!sentence) return null
  return (
    <section className={`banner${isOffline ? '' : ' is-good'}`} aria-label="Connection">
      <p>
        <b>{heading}</b> {sentence}
      </p>
      {isOffline && (
        <button type="button" className="button" onClick={onRetry}>
          Retry now
        </button>
      )}
    </section>
  )
}
