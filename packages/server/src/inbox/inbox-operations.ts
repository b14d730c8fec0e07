import type { InboxItem, inboxOperations } from '@lockstep/contract/inbox'
import type { JsonText } from '@lockstep/contract/operation'
import type { Handlers } from '../http/handler.ts'
import { setNextLink } from '../http/next-link.ts'
import { Problem } from '../platform/problem.ts'
import { listInbox, markInbox, markInboxItem, readInboxItem, summarizeInbox } from './inbox-queries.ts'

export const inboxHandlers: Handlers<typeof inboxOperations> = {
  async listInbox({ db, caller, query, request, reply }) {
    const { cursor, limit = 50, unread } = query
    // One more than requested, to know whether there is a next page.
    const found = await listInbox(db, caller.id, { isUnread: unread === 'true', cursor, limit: limit + 1 })
    const items = found.slice(0, limit)
    const last = items.at(-1)
    setNextLink(request, reply, found.length > limit && last ? { ...query, limit, cursor: last.cursor } : undefined)
    return `[${items.map(({ json }) => json).join(',')}]` as JsonText<InboxItem[]>
  },

  getInboxSummary: ({ db, caller }) => summarizeInbox(db, caller.id),

  async updateInboxItem({ db, caller, params: { inbox_item_id: id }, body: { is_read, seen } }) {
    await markInboxItem(db, caller.id, { id, is_read, seen: seen ?? null })
    const item = await readInboxItem(db, caller.id, id)
    if (!item) throw new Problem('inbox_item_not_found')
    return item
  },

  async readInbox({ db, caller, body }) {
    await markInbox(db, caller.id, body.until)
    return summarizeInbox(db, caller.id)
  },
}
