import { useEffect } from 'react'
import { client, session } from '../session.ts'
import { Store, useStore } from '../ui/store.ts'

const POLL_MS = 30_000

/** The number of unread items in the inbox of a user. */
interface Unread {
  user_id: string | undefined
  /** 100 means 100 or more. */
  count: number
  /** When one of them changed last. */
  newestAt: string | null
}
const none: Unread = { user_id: undefined, count: 0, newestAt: null }
const unread = new Store(none)
let etag: string | undefined
let requests = 0

/** Counts again, unless nobody sees it. If that fails, the next attempt will tell. */
export async function loadUnread() {
  const { state, user } = session.get()
  if (state !== 'in' || !user || document.visibilityState !== 'visible' || !navigator.onLine) return
  const number = ++requests
  // Two users can have the same summary, with the same ETag.
  const ifNoneMatch = unread.get().user_id === user.id ? etag : undefined
  const found = await client.request('getInboxSummary', {}, { ifNoneMatch, maxTries: 1 }).catch(() => undefined)
  // A later request may have been answered first.
  if (!found?.isModified || number !== requests) return
  etag = found.etag
  unread.set({ user_id: user.id, count: found.data.unread, newestAt: found.data.newest_at })
}

/** The unread items of the logged-in user. */
export function useUnread(): Unread {
  const { user } = useStore(session)
  const counted = useStore(unread)
  return counted.user_id === user?.id ? counted : none
}

/** Counts every 30 seconds, and when the user returns to the page. */
export function usePolling() {
  useEffect(() => {
    const load = () => void loadUnread()
    load()
    const timer = setInterval(load, POLL_MS)
    document.addEventListener('visibilitychange', load)
    for (const type of ['focus', 'online']) addEventListener(type, load)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', load)
      for (const type of ['focus', 'online']) removeEventListener(type, load)
    }
  }, [])
}

/** Marks the item of a card as read while the card is open. */
export function useReadCard(card_id: string | undefined) {
  const { newestAt } = useUnread()
  useEffect(() => {
    if (card_id && newestAt) void readCard(card_id).catch(() => undefined)
  }, [card_id, newestAt])
}

async function readCard(card_id: string) {
  const items = await client.listInbox({ unread: 'true', limit: 100 })
  const item = items.find(({ card }) => card?.id === card_id)
  if (!item) return
  await client.updateInboxItem({ inbox_item_id: item.id, is_read: true, seen: item.changed_at })
  await loadUnread()
}
