import type { AccountExport } from '@lockstep/contract/administration'
import { cardFields } from '@lockstep/contract/cards'
import { itemFields } from '@lockstep/contract/checklists'
import { commentFields } from '@lockstep/contract/comments'
import type { JsonText } from '@lockstep/contract/operation'
import { type RawBuilder, sql } from 'kysely'
import type { TSchema } from 'typebox'
import { type Db, statement, wireTime } from '../database/database.ts'
import { invitationColumns } from '../invitations/invitation-queries.ts'
import { tokenFields } from '../tokens/token-queries.ts'
import { accountJson, actionJson } from './admin-queries.ts'

const listOf = (fields: RawBuilder<unknown>, from: RawBuilder<unknown>) =>
  sql`(select coalesce(json_agg(row_to_json(fields)), '[]') from (select ${fields} from ${from}) fields)`

const isTime = ({ format, anyOf = [] }: TSchema & { format?: string; anyOf?: TSchema[] }): boolean =>
  format === 'date-time' || anyOf.some(isTime)

/** The columns of fields of the contract, as the API returns them. */
const columnsOf = (row: string, fields: Record<string, TSchema>) =>
  sql.join(
    Object.entries(fields).map(([name, schema]) => {
      const column = sql.id(row, name)
      return isTime(schema) ? sql`${wireTime(column)} as ${sql.id(name)}` : column
    }),
  )

/** The events that the user caused, as far as the log is kept, on boards of which the user is still a member. */
const eventsBy = (user_id: string) => sql`board_members membership
  join board_events event on event.board_id = membership.board_id and event.user_id = ${user_id}
  where membership.user_id = ${user_id}`

const read = statement(
  'export_account',
  (args: { id: string }) => sql<{ json: JsonText<AccountExport> }>`
    select json_build_object(
      'exported_at', ${wireTime(sql`clock_timestamp()`)},
      'profile', ${accountJson},
      'memberships', ${listOf(
        sql`membership.board_id, board.title, membership.role, ${wireTime(sql`membership.joined_at`)} as joined_at`,
        sql`board_members membership join boards board on board.id = membership.board_id
          where membership.user_id = ${args.id} order by membership.joined_at, membership.board_id`,
      )},
      'boards_created', ${listOf(sql`id, title`, sql`boards where created_by = ${args.id} order by id`)},
      'boards_changed_last', ${listOf(sql`id, title`, sql`boards where updated_by = ${args.id} order by id`)},
      'cards_assigned', ${listOf(
        sql`card.board_id, card.id, ${columnsOf('card', cardFields)}`,
        sql`board_members membership join card_assignees assigned using (board_id, user_id)
          join cards card on card.board_id = assigned.board_id and card.id = assigned.card_id
          where membership.user_id = ${args.id} order by card.id`,
      )},
      'items_assigned', ${listOf(
        sql`item.board_id, item.id, ${columnsOf('item', itemFields)}`,
        sql`board_members membership join item_assignees assigned using (board_id, user_id)
          join checklist_items item on item.board_id = assigned.board_id and item.id = assigned.item_id
          where membership.user_id = ${args.id} order by item.id`,
      )},
      'automation_rules', ${listOf(
        sql`rule.board_id, rule.id, rule.name`,
        sql`board_members membership
          join automation_rules rule on rule.board_id = membership.board_id and rule.action_user_id = membership.user_id
          where membership.user_id = ${args.id} order by rule.id`,
      )},
      'attachments', ${listOf(
        sql`file.board_id, file.id, file.card_id, file.name, file.mime_type, file.size,
          ${wireTime(sql`file.created_at`)} as uploaded_at`,
        sql`attachments file join (select event.board_id, (event.body::json -> 'data' ->> 'id')::uuid as id
            from ${eventsBy(args.id)} and event.type = 'attachment.created') uploaded
          on uploaded.board_id = file.board_id and uploaded.id = file.id order by file.id`,
      )},
      'comments', ${listOf(
        sql`comment.board_id, comment.id, comment.card_id, ${columnsOf('comment', commentFields)},
          ${wireTime(sql`comment.created_at`)} as created_at, ${wireTime(sql`comment.edited_at`)} as edited_at`,
        sql`comments comment where comment.author_id = ${args.id} order by comment.created_at, comment.id`,
      )},
      'inbox', ${listOf(
        sql`item.reason, item.board_id, item.card_id, ${wireTime(sql`item.changed_at`)} as changed_at,
          ${wireTime(sql`item.read_at`)} as read_at`,
        sql`inbox_items item where item.user_id = ${args.id} order by item.changed_at, item.id`,
      )},
      'changes', ${listOf(
        sql`event.board_id, event.seq, event.type, (event.body::json -> 'data' ->> 'id')::uuid as id,
          ${wireTime(sql`event.created_at`)} as at`,
        sql`${eventsBy(args.id)} order by event.created_at, event.board_id, event.seq`,
      )},
      'stored_responses', ${listOf(
        sql`key, board_id, status, ${wireTime(sql`created_at`)} as at`,
        sql`stored_responses where user_id = ${args.id} order by created_at`,
      )},
      'invitations', ${listOf(
        sql`${invitationColumns}, invitation.claimed_by, ${wireTime(sql`invitation.accepted_at`)} as accepted_at`,
        sql`invitations invitation where invitation.invited_by = ${args.id} or invitation.claimed_by = ${args.id}
          or invitation.email_key = person.email_key order by invitation.id`,
      )},
      'access_tokens', ${listOf(tokenFields, sql`access_tokens token where token.user_id = ${args.id} order by token.created_at`)},
      'audit', (select coalesce(json_agg(${actionJson} order by entry.id), '[]') from admin_actions entry
        where entry.target_id = ${args.id})
    )::text as json
    from users person where person.id = ${args.id}`,
)
/** All data about a user. Undefined when the user does not exist. */
export const readExport = async (db: Db, id: string): Promise<JsonText<AccountExport> | undefined> =>
  (await db.run(read, { id }))[0]?.json
