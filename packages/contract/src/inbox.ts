import Type, { type Static } from 'typebox'
import { Nullable, named, operation, Paging, Timestamp, Uuid } from './operation.ts'
import { User } from './users.ts'

/** From the strongest to the weakest. */
export const inboxReasons = ['mentioned', 'assigned', 'added'] as const
export type InboxReason = (typeof inboxReasons)[number]

const Named = Type.Object({ id: Uuid, title: Type.String() })

const triggerShape = Type.Object({
  type: Type.Enum(['CARD_MOVED', 'LABEL_ADDED']),
  actor: User,
  column: Nullable(Named),
  label: Nullable(Type.Object({ id: Uuid, name: Type.String() })),
})

const shape = Type.Object({
  id: Uuid,
  reason: Type.Enum([...inboxReasons], {
    description:
      '`mentioned` in a comment, `assigned` to a card or to an item of it, or `added` to a board. The strongest, if there are several.',
  }),
  count: Type.Integer({ minimum: 1, description: 'How often something happened since it was last read.' }),
  actor: Type.Union([User, Type.Null()], { description: 'Who did it last; null: an automation rule.' }),
  trigger: Type.Union([triggerShape, Type.Null()], {
    description:
      'If an automation rule did it: the change that started the rule, who made it, and the column the card was moved to or the label it got, if they still exist. Null otherwise, and when the log no longer has the change.',
  }),
  board: Named,
  card: Nullable(Type.Object({ id: Uuid, number: Type.Integer({ minimum: 1 }), title: Type.String() })),
  comment: Type.Union([Type.Object({ id: Uuid, excerpt: Type.String() }), Type.Null()], {
    description: 'The comment that mentions you, as it is now, shortened.',
  }),
  changed_at: Timestamp,
  read_at: Nullable(Timestamp),
})
/** Something that concerns the user: one for each card, or board. */
export interface InboxItem extends Static<typeof shape> {}
export const InboxItem = named<InboxItem>('InboxItem', shape)

const summaryShape = Type.Object({
  unread: Type.Integer({ minimum: 0, maximum: 100, description: 'The number of unread items; 100 means 100 or more.' }),
  newest_at: Nullable({
    ...Timestamp,
    description: 'When an unread item changed last. It differs also when the number is the same and the items are not.',
  }),
})
export interface InboxSummary extends Static<typeof summaryShape> {}
export const InboxSummary = named<InboxSummary>('InboxSummary', summaryShape)

export const inboxOperations = {
  listInbox: operation({
    method: 'GET',
    path: '/me/inbox',
    tag: 'inbox',
    summary: 'List what concerns you on all your boards',
    description:
      'Newest first; `Link` is the next page. An item that changes moves to the top: read the first page again to see it there. Cards that were archived or deleted and archived boards are left out until they are restored.',
    access: 'authenticated',
    query: Type.Object({
      unread: Type.Optional(Type.Enum(['true', 'false'], { description: '`true`: only unread items.' })),
      ...Paging({ default: 50 }),
    }),
    returns: { status: 200, schema: Type.Array(InboxItem) },
  }),
  getInboxSummary: operation({
    method: 'GET',
    path: '/me/inbox/summary',
    tag: 'inbox',
    summary: 'Count the unread items of your inbox',
    description: 'Cheaper than the list, for a badge.',
    access: 'authenticated',
    returns: { status: 200, schema: InboxSummary },
  }),
  updateInboxItem: operation({
    method: 'PATCH',
    path: '/me/inbox/items/{inbox_item_id}',
    tag: 'inbox',
    summary: 'Mark an item as read or unread',
    description: 'With `seen`, an item that has changed since then stays unread.',
    access: 'authenticated',
    params: Type.Object({ inbox_item_id: Uuid }),
    body: Type.Object({
      is_read: Type.Boolean(),
      seen: Type.Optional({ ...Timestamp, description: 'The `changed_at` of the item that the user saw.' }),
    }),
    returns: { status: 200, schema: InboxItem },
    problems: ['inbox_item_not_found'],
  }),
  readInbox: operation({
    method: 'POST',
    path: '/me/inbox/read',
    tag: 'inbox',
    summary: 'Mark everything as read that has not changed since a time',
    description: 'Items that changed after `until` stay unread.',
    access: 'authenticated',
    body: Type.Object({ until: { ...Timestamp, description: 'The newest `changed_at` that the user saw.' } }),
    returns: { status: 200, schema: InboxSummary },
  }),
}
