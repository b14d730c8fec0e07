import { type InboxReason, inboxReasons } from '@lockstep/contract/inbox'
import { sql } from 'kysely'
import { v7 as newUuid } from 'uuid'
import { type Db, statement } from '../database/database.ts'

/** Something that concerns a user: a mention in a comment, an assignment to a card, or a new membership (without a card). */
export interface Notification {
  user_id: string
  reason: InboxReason
  card_id: string | null
  comment_id?: string
}
export const assignmentTo = (user_id: string, card_id: string | null): Notification => ({
  user_id,
  reason: 'assigned',
  card_id,
})

/** The assignments to items of a card. */
export const assignmentsOf = (items: readonly { assignees: readonly { id: string }[] }[], card_id: string | null) =>
  items.flatMap(({ assignees }) => assignees.map(({ id }) => assignmentTo(id, card_id)))

/** Who is notified by an event, and whose earlier notification it takes back. */
export interface EventNotifications {
  notifies?: readonly Notification[]
  withdraws?: readonly Notification[]
}

/** A notification with the user who caused it; null: an automation rule. */
type CausedNotification = Notification & { actor_id: string | null }
interface InboxRow extends CausedNotification {
  count: number
}

/** One row for each user and card. Nobody is notified of a change of their own, nor of what a rule did because of it. */
function rowsOf(board_id: string, caller_id: string, caused: readonly CausedNotification[]): InboxRow[] {
  const rows = new Map<string, InboxRow>()
  for (const each of caused) {
    if (each.user_id === caller_id) continue
    const key = `${each.user_id} ${each.card_id ?? board_id}`
    const known = rows.get(key)
    const isStronger = !known || inboxReasons.indexOf(each.reason) <= inboxReasons.indexOf(known.reason)
    rows.set(key, { ...known, ...each, ...(!isStronger && { reason: known.reason }), count: (known?.count ?? 0) + 1 })
  }
  return [...rows.values()]
}

interface RowArguments {
  board_id: string
  user_ids: string[]
  card_ids: (string | null)[]
  reasons: string[]
  comment_ids: (string | null)[]
}
const columnsOf = (board_id: string, rows: readonly Notification[]): RowArguments => ({
  board_id,
  user_ids: rows.map(({ user_id }) => user_id),
  card_ids: rows.map(({ card_id }) => card_id),
  reasons: rows.map(({ reason }) => reason),
  comment_ids: rows.map(({ comment_id }) => comment_id ?? null),
})

type NotifyArguments = RowArguments & { at: string; ids: string[]; counts: number[]; actor_ids: (string | null)[] }
const insertItems = sql`insert into inbox_items as item
      (user_id, id, board_id, subject_id, card_id, reason, count, actor_id, comment_id, changed_at)`
/** An unread item gathers; one that was read starts again with this notification. */
const orGather = sql`on conflict (user_id, board_id, subject_id) do update set
      count = case when item.read_at is null then item.count else 0 end + excluded.count,
      reason = case when item.read_at is null and item.reason = 'mentioned' then item.reason else excluded.reason end,
      actor_id = excluded.actor_id,
      comment_id = coalesce(excluded.comment_id, case when item.read_at is null then item.comment_id end),
      changed_at = excluded.changed_at, read_at = null`
type NotifyOneArguments = Omit<InboxRow, 'comment_id'> & {
  comment_id: string | null
  board_id: string
  id: string
  at: string
}
/** Most changes notify one user. Without arrays it costs less. */
const notifyOne = statement(
  'notify_user',
  (args: NotifyOneArguments) => sql`
    ${insertItems}
    select membership.user_id, ${args.id}::uuid, membership.board_id, coalesce(${args.card_id}::uuid, membership.board_id), ${args.card_id}::uuid,
      ${args.reason}, ${args.count}::int4, ${args.actor_id}::uuid, ${args.comment_id}::uuid, ${args.at}::timestamptz
    from board_members membership join users person on person.id = membership.user_id and person.is_active
    where membership.board_id = ${args.board_id} and membership.user_id = ${args.user_id}
    ${orGather}`,
)
/** In the order of the users, like every statement that writes several rows, so that no two can wait for each other. */
const notify = statement(
  'notify_users',
  (args: NotifyArguments) => sql`
    ${insertItems}
    select made.user_id, made.id, ${args.board_id}, coalesce(made.card_id, ${args.board_id}), made.card_id, made.reason, made.count,
      made.actor_id, made.comment_id, ${args.at}
    from unnest(${args.user_ids}::uuid[], ${args.ids}::uuid[], ${args.card_ids}::uuid[], ${args.reasons}::text[], ${args.counts}::int4[],
        ${args.actor_ids}::uuid[], ${args.comment_ids}::uuid[])
      made (user_id, id, card_id, reason, count, actor_id, comment_id)
    join board_members membership on membership.board_id = ${args.board_id} and membership.user_id = made.user_id
    join users person on person.id = made.user_id and person.is_active
    order by made.user_id, made.card_id
    ${orGather}`,
)
/** Whether the user of the row `gone` is still assigned to the card or to an item of it. */
const isStillAssigned = sql`exists (select from card_assignees assignee
        where assignee.board_id = item.board_id and assignee.card_id = gone.card_id and assignee.user_id = gone.user_id)
      or exists (select from checklists checklist
        join checklist_items part on part.board_id = checklist.board_id and part.checklist_id = checklist.id
        join item_assignees assignee on assignee.board_id = part.board_id and assignee.item_id = part.id
        where checklist.board_id = item.board_id and checklist.card_id = gone.card_id and assignee.user_id = gone.user_id)`
const withdraw = statement(
  'withdraw_notifications',
  (args: RowArguments) => sql`
    delete from inbox_items item
    using unnest(${args.user_ids}::uuid[], ${args.card_ids}::uuid[], ${args.reasons}::text[], ${args.comment_ids}::uuid[])
      gone (user_id, card_id, reason, comment_id)
    where item.board_id = ${args.board_id} and item.user_id = gone.user_id and item.card_id = gone.card_id
      and item.reason = gone.reason and item.comment_id is not distinct from gone.comment_id and item.count = 1 and item.read_at is null
      and not (gone.reason = 'assigned' and (${isStillAssigned}))`,
)

/** Writes the notifications of a change, in its transaction. What is taken back before it was read leaves no trace. */
export async function writeNotifications(
  tx: Db,
  { board_id, caller_id, at }: { board_id: string; caller_id: string; at: string },
  events: readonly (EventNotifications & { actor_id: string | null })[],
) {
  // Also if the list is empty, so that the number of statements of an operation does not depend on the data.
  const mayWithdraw = events.some(({ withdraws }) => withdraws)
  const withdrawn = events.flatMap(({ withdraws = [] }) => withdraws)
  const caused = events.flatMap(({ notifies = [], actor_id }) => notifies.map((each) => ({ ...each, actor_id })))
  const rows = rowsOf(board_id, caller_id, caused)
  await Promise.all([
    mayWithdraw && tx.run(withdraw, columnsOf(board_id, withdrawn)),
    rows.length > 0 && writeRows(tx, board_id, at, rows),
  ])
}

function writeRows(tx: Db, board_id: string, at: string, rows: readonly InboxRow[]) {
  const [first] = rows
  if (first && rows.length === 1) return tx.run(notifyOne, { comment_id: null, ...first, board_id, id: newUuid(), at })
  return tx.run(notify, {
    ...columnsOf(board_id, rows),
    at,
    ids: rows.map(() => newUuid()),
    counts: rows.map(({ count }) => count),
    actor_ids: rows.map(({ actor_id }) => actor_id),
  })
}
