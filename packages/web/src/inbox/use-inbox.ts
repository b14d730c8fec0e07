import { type InboxItem, isLockstepError } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { loadUnread, useUnread } from '../bell/unread.ts'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { errorMessage } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

interface Inbox {
  /** Newest first; undefined until they are known. */
  items: readonly InboxItem[] | undefined
  /** Where the next page begins. */
  cursor: string | undefined
  /** Why the items could not be loaded. */
  failure: unknown
  /** The time of the last attempt. */
  now: number
}
const initial: Inbox = { items: undefined, cursor: undefined, failure: undefined, now: Date.now() }

/** The items of the inbox. Asks again when unread items have changed, and when the user returns to the page. */
export function useInbox(isUnread: boolean) {
  const [inbox, setInbox] = useState(initial)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const unread = useUnread()
  /** Responses for another filter are ignored. */
  const shown = useRef(isUnread)
  /** Number of requests sent, and the latest one that has a result. Results may come in another order. */
  const sent = useRef(0)
  const settled = useRef(0)

  const request = useCallback(
    async (cursor?: string) => {
      const input = { ...(isUnread && { unread: 'true' as const }), ...(cursor && { cursor }) }
      const nth = ++sent.current
      try {
        const { data, next } = await client.request('listInbox', input, { ...(!navigator.onLine && { maxTries: 1 }) })
        const isOutdated = nth < settled.current
        // A first page from before a later request lacks newer items; the next pages are still needed.
        if (shown.current !== isUnread || (isOutdated && cursor === undefined)) return
        settled.current = Math.max(settled.current, nth)
        setInbox(({ items = [], ...now }) => {
          // Without an item in common, there may be others between the first page and what was loaded before.
          const isApart = cursor === undefined && next && !items.some(({ id }) => data.some((each) => each.id === id))
          const known = isApart ? [] : items
          return {
            items: merged(data, known, { isFirst: cursor === undefined, isLast: next === undefined }),
            // What was loaded before goes further than the first page.
            cursor: cursor === undefined && known.length > 0 ? now.cursor : next?.['cursor'],
            failure: isOutdated ? now.failure : undefined,
            now: Date.now(),
          }
        })
      } catch (failure) {
        if (shown.current !== isUnread || nth < settled.current) return
        settled.current = nth
        setInbox((now) => ({ ...now, failure, now: Date.now() }))
      }
    },
    [isUnread],
  )

  useEffect(() => {
    shown.current = isUnread
    setInbox(initial)
  }, [isUnread])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other unread items trigger the request
  useEffect(() => void request(), [request, unread])
  useEffect(() => {
    const load = () => {
      if (document.visibilityState === 'visible') void request()
    }
    document.addEventListener('visibilitychange', load)
    for (const type of ['online', 'offline']) addEventListener(type, load)
    return () => {
      document.removeEventListener('visibilitychange', load)
      for (const type of ['online', 'offline']) removeEventListener(type, load)
    }
  }, [request])

  const replace = (id: string, item: InboxItem | undefined) =>
    setInbox((now) => ({
      ...now,
      items: now.items?.flatMap((each) => (each.id !== id ? [each] : item ? [item] : [])),
    }))

  /** Shows the mark at once. */
  const mark = async (item: InboxItem, isRead: boolean) => {
    replace(item.id, { ...item, read_at: isRead ? new Date().toISOString() : null })
    try {
      const input = { inbox_item_id: item.id, is_read: isRead, ...(isRead && { seen: item.changed_at }) }
      replace(item.id, await client.updateInboxItem(input))
    } catch (error) {
      const isGone = isLockstepError(error, 'inbox_item_not_found')
      replace(item.id, isGone ? undefined : item)
      if (!isGone) showToast(errorMessage(error))
    }
    void loadUnread()
  }

  const markAll = async (until: string) => {
    try {
      await client.readInbox({ until })
      const read_at = new Date().toISOString()
      setInbox((now) => ({
        ...now,
        items: now.items?.map((item) =>
          item.read_at === null && item.changed_at <= until ? { ...item, read_at } : item,
        ),
      }))
      announce(t.allMarked)
    } catch (error) {
      showToast(errorMessage(error))
    }
    void loadUnread()
  }

  const showMore = async () => {
    setLoadingMore(true)
    await request(inbox.cursor)
    setLoadingMore(false)
  }

  return { ...inbox, isLoadingMore, mark, markAll, showMore, reload: () => void request() }
}

/**
 * The new items and those that were known, newest first. Items that were read stay where they are, so that the list does not
 * jump. Unread ones that the page would have, and has not, are gone.
 */
function merged(
  found: readonly InboxItem[],
  known: readonly InboxItem[],
  page: { isFirst: boolean; isLast: boolean },
): InboxItem[] {
  const ids = new Set(found.map(({ id }) => id))
  const order = ({ changed_at, id }: InboxItem) => `${changed_at} ${id}`
  const [first, last] = [found[0], found.at(-1)]
  const isOnPage = (item: InboxItem) =>
    (page.isFirst || (first && order(item) <= order(first))) && (page.isLast || (last && order(item) >= order(last)))
  const isGone = (item: InboxItem) => item.read_at === null && isOnPage(item)
  return [...found, ...known.filter((item) => !ids.has(item.id) && !isGone(item))].sort((one, other) =>
    order(one) < order(other) ? 1 : -1,
  )
}
