import { defineMessages, params } from '../ui/i18n.ts'

export const t = defineMessages('bell', {
  inbox: 'Inbox',
  inboxUnread: params('Inbox, {count} unread'),
})
