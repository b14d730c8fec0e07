import type { Board } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { completeBoard } from '../board-state/create-board.ts'
import { cacheBoardList } from '../offline-cache.ts'
import { client, session } from '../session.ts'
import { type OfflineBoards, readOfflineBoards, type ShownBoard } from './offline-boards.ts'

const POLL_MS = 15_000

interface BoardList {
  /** Last changed first; undefined until they are known. */
  boards: readonly ShownBoard[] | undefined
  /** The boards that can be opened while the list cannot be loaded. */
  savedIds: ReadonlySet<string>
  /** Why the list could not be loaded. */
  failure: unknown
  /** The time of the last attempt. */
  now: number
}
const initial: BoardList = { boards: undefined, savedIds: new Set(), failure: undefined, now: Date.now() }

/**
 * The user's boards. Asks again every 15 seconds and when the page becomes visible, with the ETag of what is shown.
 * While the server cannot be reached, shows the boards that are saved in the browser.
 */
export function useBoardList(): BoardList & { reload: () => void; replace: (board: Board) => void } {
  const [list, setList] = useState(initial)
  const etag = useRef<string>(undefined)
  const isLoading = useRef(false)
  const isLoaded = useRef(false)

  const load = useCallback(async () => {
    const { state, user } = session.get()
    if (isLoading.current || state !== 'in' || !user) return
    isLoading.current = true
    try {
      // Only the first request is retried at once, and only if there is a network.
      const maxTries = isLoaded.current || !navigator.onLine ? 1 : undefined
      const found = await client.request('listBoards', {}, { ifNoneMatch: etag.current, maxTries })
      etag.current = found.etag
      setList(({ boards }) => ({
        ...initial,
        now: Date.now(),
        boards: found.isModified ? ordered(found.data, boards) : boards,
      }))
      if (!found.isModified) return
      void cacheBoardList(found.data, user.id)
      // If this fails, the next visit tries again.
      if (!isLoaded.current) completeBoard(found.data).catch(() => {})
      isLoaded.current = true
    } catch (failure) {
      const saved = await readOfflineBoards(user.id).catch(() => nothingSaved)
      setList(({ boards }) => ({
        boards: boards ?? (saved.boards.length > 0 ? ordered(saved.boards) : undefined),
        savedIds: saved.savedIds,
        failure,
        now: Date.now(),
      }))
    } finally {
      isLoading.current = false
    }
  }, [])

  useEffect(() => {
    const loadIfVisible = () => {
      if (document.visibilityState === 'visible') void load()
    }
    void load()
    const timer = setInterval(loadIfVisible, POLL_MS)
    document.addEventListener('visibilitychange', loadIfVisible)
    for (const type of ['online', 'offline']) addEventListener(type, loadIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', loadIfVisible)
      for (const type of ['online', 'offline']) removeEventListener(type, loadIfVisible)
    }
  }, [load])

  const replace = (board: Board) => {
    // The next request gets the whole list.
    etag.current = undefined
    setList((now) => ({
      ...now,
      boards: now.boards?.map((each) => (each.id === board.id ? { ...each, ...board } : each)),
    }))
  }
  return { ...list, reload: () => void load(), replace }
}

const nothingSaved: OfflineBoards = { boards: [], savedIds: new Set() }

/** Sorts by the last change. Boards that are shown stay in place while one of them is hovered or focused. */
function ordered(boards: readonly ShownBoard[], shown: readonly ShownBoard[] = []): readonly ShownBoard[] {
  const sorted = boards.toSorted((one, other) => (other.changed_at ?? '').localeCompare(one.changed_at ?? ''))
  if (!document.querySelector('.tiles:is(:hover, :focus-within)')) return sorted
  const places = new Map(shown.map(({ id }, i) => [id, i]))
  return sorted.toSorted((one, other) => (places.get(one.id) ?? -1) - (places.get(other.id) ?? -1))
}
