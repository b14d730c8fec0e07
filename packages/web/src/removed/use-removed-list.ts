import type { RemovedItem } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { useCallback, useEffect, useInsertionEffect, useRef, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { client } from '../session.ts'

/** Empty strings match everything. */
export interface RemovedFilter {
  as: '' | 'archived' | 'deleted'
  kind: '' | 'card' | 'column'
  search: string
  /** Only the cards of this column. */
  column_id?: string
}
export const noFilter: RemovedFilter = { as: '', kind: '', search: '' }

interface LoadedList {
  /** Newest first. */
  items: readonly RemovedItem[]
  /** Query parameters of the next page. */
  next: Record<string, string> | undefined
}

const PAGE_SIZE = 50
const TYPING_MS = 250
const EVENT_MS = 300

/** What left the board, in pages. It follows the board: what comes back disappears, and what leaves appears. */
export function useRemovedList(board_id: string, filter: RemovedFilter, isOffline: boolean) {
  const [list, setList] = useState<LoadedList>()
  const [failure, setFailure] = useState<unknown>()
  const [isLoadingMore, setLoadingMore] = useState(false)
  const { as, kind, column_id } = filter
  const search = useDelayed(filter.search.trim())

  const read = useCallback(
    async (next: Record<string, string> = {}, signal?: AbortSignal): Promise<LoadedList> => {
      const wanted = {
        ...(as && { as }),
        ...(kind && { kind }),
        ...(search && { search }),
        ...(column_id && { column_id }),
      }
      const page = await client.request('listRemoved', { board_id, limit: PAGE_SIZE, ...wanted, ...next }, { signal })
      return { items: page.data, next: page.next }
    },
    [board_id, as, kind, search, column_id],
  )
  const load = useCallback(
    (signal?: AbortSignal) => {
      setFailure(undefined)
      read({}, signal).then(setList, (error: unknown) => {
        if (!signal?.aborted) setFailure(error)
      })
    },
    [read],
  )
  /** A response for an earlier filter is of no use. */
  const latest = useRef(read)
  useInsertionEffect(() => {
    latest.current = read
  }, [read])
  const ifCurrent = async (response: Promise<LoadedList>, act: (loaded: LoadedList) => void) => {
    const loaded = await response
    if (latest.current === read) act(loaded)
  }
  // Again for another filter, and after a reconnect.
  useEffect(() => {
    if (isOffline) return
    const controller = new AbortController()
    load(controller.signal)
    return () => controller.abort()
  }, [load, isOffline])

  const loadMore = async () => {
    if (!list?.next || isLoadingMore) return
    setFailure(undefined)
    setLoadingMore(true)
    try {
      await ifCurrent(read(list.next), (more) =>
        setList((now) => ({ items: withoutDuplicates([...(now?.items ?? []), ...more.items]), next: more.next })),
      )
    } catch (error) {
      setFailure(error)
    }
    setLoadingMore(false)
  }

  const drop = useCallback((ids: readonly string[]) => {
    passFocus(ids)
    setList((now) => now && { ...now, items: now.items.filter(({ id }) => !ids.includes(id)) })
  }, [])

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const refreshSoon = () => {
    clearTimeout(timer.current)
    // If it fails, the list is as old as the board: it is loaded again after the reconnect.
    const refresh = () => ifCurrent(read(), (fresh) => setList((now) => (now ? merged(fresh, now) : fresh)))
    timer.current = setTimeout(() => void refresh().catch(() => {}), EVENT_MS)
  }
  useBoardEvents(boardApi, board_id, (event) => {
    const { type } = event
    if (type === 'card.created') drop([event.data.id])
    if (type === 'column.created') drop([event.data.id, ...event.data.cards.map(({ id }) => id)])
    if (type === 'card.deleted' || type === 'column.deleted' || type === 'resync') refreshSoon()
  })
  return { list, failure, isLoadingMore, load: () => load(), loadMore, drop }
}

/** The new first page, and what was loaded behind it. */
function merged(fresh: LoadedList, now: LoadedList): LoadedList {
  const last = fresh.items.at(-1)
  if (!fresh.next || !last) return fresh
  // All cards of a column have the same time.
  const order = ({ removed, id }: RemovedItem) => `${removed.at} ${id}`
  const older = now.items.filter((item) => order(item) < order(last))
  return older.length === 0 ? fresh : { items: withoutDuplicates([...fresh.items, ...older]), next: now.next }
}

const withoutDuplicates = (items: readonly RemovedItem[]): RemovedItem[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
]

/** Before rows with the focus disappear, focuses the next or previous one, or the search field. */
function passFocus(ids: readonly string[]) {
  const row = document.activeElement?.closest<HTMLElement>('[data-removed-id]')
  if (!row || !ids.includes(row.dataset['removedId'] ?? '')) return
  const next = row.nextElementSibling ?? row.previousElementSibling
  const target =
    next?.querySelector<HTMLElement>('a') ?? row.closest('.layer')?.querySelector<HTMLElement>('input, button')
  target?.focus()
}

/** The text, after the user has stopped typing. */
function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return delayed
}
