import { inboxOperations } from '@lockstep/contract/inbox'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import { listInbox, markInbox, markInboxItem, readInboxItem, summarizeInbox } from './inbox-queries.ts'

export const inboxHandlers: Handlers<typeof inboxOperations> = {
  listInbox: (context) =>
    readPage(inboxOperations.listInbox, context, (page) =>
      listInbox(context.db, context.caller.id, context.query.unread === 'true', page),
    ),

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
