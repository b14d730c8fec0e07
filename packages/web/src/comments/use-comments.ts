import type { Comment } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { useCallback, useEffect, useInsertionEffect, useMemo, useRef, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { client } from '../session.ts'

interface LoadedComments {
  /** By id; undefined for a deleted one, which a page that is still being loaded may contain. */
  byId: ReadonlyMap<string, Comment | undefined>
  /** The cursor of the page with older comments. */
  next: string | undefined
  isLoaded: boolean
}
const nothing: LoadedComments = { byId: new Map(), next: undefined, isLoaded: false }
const PAGE_SIZE = 30
/** For the way back to a linked comment. */
const LARGE_PAGE_SIZE = 100

/** The comments of a card, oldest first: the last page, earlier ones on request, and changes as they happen. */
export function useComments(board_id: string, card_id: string, isOffline: boolean) {
  const [loaded, setLoaded] = useState(nothing)
  const [failure, setFailure] = useState<unknown>()
  const [isLoading, setLoading] = useState(false)
  const latest = useRef(loaded)
  useInsertionEffect(() => {
    latest.current = loaded
  }, [loaded])

  const put = useCallback((id: string, comment: Comment | undefined) => {
    setLoaded((now) => ({ ...now, byId: new Map(now.byId).set(id, comment) }))
  }, [])
  const loadPage = useCallback(
    async (cursor: string | undefined, limit: number) => {
      setFailure(undefined)
      setLoading(true)
      try {
        const { data, next } = await client.request('listComments', { card_id, limit, ...(cursor && { cursor }) })
        // What an event said meanwhile is newer than the page.
        setLoaded(({ byId }) => ({
          byId: new Map([...data.map((comment): [string, Comment] => [comment.id, comment]), ...byId]),
          next: next?.['cursor'],
          isLoaded: true,
        }))
        return { ids: data.map(({ id }) => id), next: next?.['cursor'] }
      } catch (error) {
        setFailure(error)
        return undefined
      } finally {
        setLoading(false)
      }
    },
    [card_id],
  )
  const load = useCallback(() => loadPage(undefined, PAGE_SIZE), [loadPage])
  // Again when the connection is back, if the first attempt failed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (!latest.current.isLoaded) void load()
  }, [load, isOffline])
  useBoardEvents(boardApi, board_id, (event) => {
    if (event.type === 'resync') {
      // Events were skipped.
      setLoaded((now) => ({ ...nothing, isLoaded: now.isLoaded }))
      void load()
    } else if (event.type === 'comment.created' || event.type === 'comment.updated') {
      const { comment_count: _, ...comment } = event.data
      const isShown = event.type === 'comment.created' || latest.current.byId.has(comment.id)
      if (comment.card_id === card_id && isShown) put(comment.id, comment)
    } else if (event.type === 'comment.deleted' && event.data.card_id === card_id) put(event.data.id, undefined)
  })

  const loadEarlier = useCallback(() => {
    const { next } = latest.current
    return next === undefined ? Promise.resolve(undefined) : loadPage(next, PAGE_SIZE)
  }, [loadPage])
  /** Loads pages until the comment is among them. Returns whether it exists. */
  const loadTo = useCallback(
    async (id: string): Promise<boolean> => {
      let page = await load()
      while (page && !page.ids.includes(id) && page.next !== undefined)
        page = await loadPage(page.next, LARGE_PAGE_SIZE)
      return page?.ids.includes(id) ?? false
    },
    [load, loadPage],
  )
  const comments = useMemo(
    () => [...loaded.byId.values()].filter((comment) => comment !== undefined).toSorted(inOrder),
    [loaded.byId],
  )
  const hasEarlier = loaded.next !== undefined
  return { comments, isLoaded: loaded.isLoaded, hasEarlier, failure, isLoading, load, loadEarlier, loadTo, put }
}

/** The order of the server. */
const inOrder = (one: Comment, other: Comment) =>
  one.created_at === other.created_at ? (one.id < other.id ? -1 : 1) : one.created_at < other.created_at ? -1 : 1
