import { defineMessages, params, plural } from '../ui/i18n.ts'

export const t = defineMessages('inbox', {
  inbox: 'Inbox',
  show: 'Show',
  all: 'All',
  unread: 'Unread',
  markAllAsRead: 'Mark all as read',
  allMarked: 'All items are marked as read',
  showMore: 'Show more',
  loading: 'Loading…',

  mentionedYou: params('{name} mentioned you'),
  assignedYou: params('{name} assigned you'),
  addedYou: params('{name} added you to the board'),
  aRule: 'An automation rule',
  movedToBy: params('{name} moved it to {column}; a rule assigned you'),
  movedBy: params('{name} moved it; a rule assigned you'),
  labeledBy: params('{name} added the label {label}; a rule assigned you'),
  labelAddedBy: params('{name} added a label; a rule assigned you'),
  andMore: plural({ one: 'and {count} more', other: 'and {count} more' }),
  numbered: params('#{number} {title}'),
  quoted: params('“{text}”'),
  justNow: 'just now',
  markAsRead: params('Mark as read: {title}'),
  markAsUnread: params('Mark as unread: {title}'),

  empty: 'Nothing here yet',
  emptyHint: 'You will see here when someone mentions you, assigns you or adds you to a board.',
  noneUnread: 'Nothing unread',
  noneUnreadHint: 'You have read everything.',
  unreachable: 'Can’t reach the server. Your inbox will be up to date when the connection is back.',
})
