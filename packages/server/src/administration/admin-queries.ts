import type { Account, AdminAction } from '@lockstep/contract/administration'
import { sql } from 'kysely'
import { type Db, type JsonRow, statement, wireTime } from '../database/database.ts'
import { idCursor, isGreater, type ListedRow, numberCursor, type Page } from '../database/keyset.ts'
import { keyOf, patternOf } from '../users/user-queries.ts'

/** An account as superusers see it, of the row `person` of the table `users`. */
export const accountJson = sql<Account>`(select row_to_json(fields) from (select
  person.id, person.email, person.username, person.firstname, person.lastname, person.is_active, person.is_verified,
  person.is_superuser, ${wireTime(sql`person.created_at`)} as created_at, ${wireTime(sql`person.erased_at`)} as erased_at) fields)`
/** An entry of the audit log, of the row `entry` of the table `admin_actions`. */
export const actionJson = sql<AdminAction>`(select row_to_json(fields) from (select
  entry.id, ${wireTime(sql`entry.at`)} as at, entry.actor_id, entry.operator, entry.action, entry.target_id, entry.details) fields)`

const read = statement(
  'read_account',
  (args: { id: string }) => sql<JsonRow<Account>>`
    select ${accountJson}::text as json from users person where person.id = ${args.id}`,
)
export const readAccount = async (db: Db, id: string) => (await db.run(read, { id }))[0]?.json

const list = statement(
  'list_accounts',
  (args: Page) => sql<ListedRow<Account>>`
    select ${idCursor(sql`person.id`)} as cursor, ${accountJson}::text as json from users person
    where ${isGreater(sql`person.id`, args)} order by person.id limit ${args.limit}`,
)
/** Materialized, so that PostgreSQL does not read accounts in the order of their ids until it finds enough. */
const find = statement(
  'find_accounts',
  (args: Page & { pattern: string }) => sql<ListedRow<Account>>`
    with matching as materialized (select id from users where username_key like ${args.pattern} or email_key like ${args.pattern}),
    page as (select id from matching where ${isGreater(sql`id`, args)} order by id limit ${args.limit})
    select ${idCursor(sql`person.id`)} as cursor, ${accountJson}::text as json
    from page cross join lateral (select * from users where id = page.id limit 1) person
    order by person.id`,
)
/** A page of accounts, ordered by id. */
export function listAccounts(db: Db, search: string, page: Page): Promise<ListedRow<Account>[]> {
  return search === '' ? db.run(list, page) : db.run(find, { ...page, pattern: patternOf(keyOf(search)) })
}

const byEmail = statement('find_account_by_email', (args: { email_key: string }, query) =>
  query.selectFrom('users').select('id').where('email_key', '=', args.email_key),
)
/** The id of the account with this e-mail address, if there is one. */
export const findAccount = async (db: Db, email: string): Promise<string | undefined> =>
  (await db.run(byEmail, { email_key: keyOf(email) }))[0]?.id

const actions = statement(
  'list_admin_actions',
  (args: Page) => sql<ListedRow<AdminAction>>`
    select ${numberCursor(sql`entry.id`)} as cursor, ${actionJson}::text as json from admin_actions entry
    where entry.id < coalesce(${args.key}::int8, ${sql.lit(Number.MAX_SAFE_INTEGER)}) order by entry.id desc limit ${args.limit}`,
)
/** A page of the audit log, newest first. */
export const listActions = (db: Db, page: Page) => db.run(actions, page)

interface NewAction {
  actor_id: string | null
  operator: string | null
  action: string
  target_id: string | null
  details: string
}
const insert = statement('insert_admin_action', (args: NewAction, query) =>
  query.insertInto('admin_actions').values({
    actor_id: args.actor_id,
    operator: args.operator,
    action: args.action,
    target_id: args.target_id,
    details: args.details,
  }),
)
export const insertAction = async (db: Db, action: NewAction) => void (await db.run(insert, action))
