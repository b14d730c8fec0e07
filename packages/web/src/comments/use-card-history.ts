import type { Card, LoggedEvent } from '@lockstep/client'
import { useCallback, useEffect, useInsertionEffect, useMemo, useRef, useState } from 'react'
import { describeLog } from '../activity/describe-log.ts'
import type { ActivityLineData } from '../activity/group-events.ts'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { client } from '../session.ts'

interface LoadedHistory {
  /** Oldest first. */
  events: readonly LoggedEvent[]
  next: string | undefined
}
/** A line of the history. */
export interface HistoryEntry {
  line: ActivityLineData
  /** The description before it was changed. */
  earlierText: string | undefined
}
const PAGE_SIZE = 50
const DEBOUNCE_MS = 400

/** The history of a card without its comments, which are shown themselves. It is loaded when it is first shown. */
export function useCardHistory(card: Card, isShown: boolean) {
  const { board_id } = useTools()
  const { view } = useShownBoard()
  const card_id = card.id
  const [loaded, setLoaded] = useState<LoadedHistory>()
  const [failure, setFailure] = useState<unknown>()
  const isLoaded = useRef(false)
  useInsertionEffect(() => {
    isLoaded.current = loaded !== undefined
  }, [loaded])

  const loadPage = useCallback(
    async (cursor: string | undefined) => {
      setFailure(undefined)
      const input = { board_id, card_id, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }
      try {
        const { data, next } = await client.request('listCardEvents', input)
        setLoaded((now) => merge(now, data, cursor, next?.['cursor']))
      } catch (error) {
        setFailure(error)
      }
    },
    [board_id, card_id],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed card has new events
  useEffect(() => {
    if (!isShown) return
    const timer = setTimeout(() => void loadPage(undefined), isLoaded.current ? DEBOUNCE_MS : 0)
    return () => clearTimeout(timer)
  }, [isShown, card, loadPage])

  const events = loaded?.events
  const entries = useMemo(() => (events ? entriesOf(events, view, card_id) : []), [events, view, card_id])
  const oldest = events?.[0]
  return {
    entries,
    isLoaded: loaded !== undefined,
    hasEarlier: loaded?.next !== undefined,
    /** The time of the oldest loaded event. */
    oldestAt: oldest?.timestamp,
    /** Whether the log no longer has the oldest events. */
    isCut:
      loaded !== undefined && loaded.next === undefined && card.created_at < (oldest?.timestamp ?? card.updated_at),
    failure,
    load: () => loadPage(undefined),
    loadEarlier: () => loadPage(loaded?.next),
  }
}

/** Adds a page, newest first, to the loaded events. After a long time offline, a newest page may not reach them. */
function merge(
  now: LoadedHistory | undefined,
  page: readonly LoggedEvent[],
  cursor: string | undefined,
  next: string | undefined,
): LoadedHistory {
  const known = new Set(now?.events.map(({ seq }) => seq))
  const fresh = page.filter(({ seq }) => !known.has(seq)).toReversed()
  if (!now || (cursor === undefined && fresh.length === page.length)) return { events: fresh, next }
  return cursor === undefined
    ? { ...now, events: [...now.events, ...fresh] }
    : { events: [...fresh, ...now.events], next }
}

function entriesOf(
  events: readonly LoggedEvent[],
  view: Parameters<typeof describeLog>[1],
  card_id: string,
): HistoryEntry[] {
  const earlier = earlierTexts(events, card_id)
  return describeLog(events, view)
    .filter(({ type }) => type !== 'comment.created' && type !== 'comment.updated')
    .map(({ seq, at, actor, sentence }) => ({
      line: { key: seq, at, actor, sentence },
      earlierText: earlier.get(seq),
    }))
}

/** The description before each event that changed it, by event number. */
function earlierTexts(events: readonly LoggedEvent[], card_id: string): Map<number, string> {
  const found = new Map<number, string>()
  let before: string | undefined
  for (const { seq, type, data } of events) {
    const { id, description } = data as { id?: string; description?: string | null }
    if (!type.startsWith('card.') || id !== card_id || description === undefined) continue
    const now = description ?? ''
    if (before !== undefined && before !== now) found.set(seq, before)
    before = now
  }
  return found
}
