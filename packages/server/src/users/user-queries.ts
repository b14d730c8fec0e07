import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { sql } from 'kysely'
import { type Db, statement } from '../core/database.ts'

/** The public user, of the table `users` under the name `person`. The one list of what others may see. */
export const userJson = sql<User>`(select row_to_json(shown) from (select
  person.id, person.email, person.username, person.firstname, person.lastname,
  person.is_active, person.is_verified, person.is_superuser) shown)`

/**
 * The form in which e-mail addresses and usernames are compared and searched. Nowhere else is it computed. Lower case,
 * upper case and lower case again: letters that have but one of the two, and the sigma that has two, come together there.
 */
export const keyOf = (name: string) =>
  name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')

interface NewUser {
  id: string
  email: string
  username: string
  hashed_password: string
  firstname: string | null
  lastname: string | null
  is_superuser: boolean
}
const insert = statement(
  'insert_user',
  (args: NewUser & { email_key: string; username_key: string }) => sql<{ json: JsonText<User> }>`
    insert into users as person (id, email, email_key, username, username_key, hashed_password, firstname, lastname, is_superuser)
    values (${args.id}, ${args.email}, ${args.email_key}, ${args.username}, ${args.username_key}, ${args.hashed_password},
      ${args.firstname}, ${args.lastname}, ${args.is_superuser})
    returning ${userJson}::text as json`,
)
export async function insertUser(db: Db, user: NewUser): Promise<JsonText<User>> {
  const [row] = await db.run(insert, { ...user, email_key: keyOf(user.email), username_key: keyOf(user.username) })
  return (row as { json: JsonText<User> }).json
}

const read = statement(
  'read_user',
  (args: { id: string }) => sql<{ json: JsonText<User> }>`
    select ${userJson}::text as json from users person where person.id = ${args.id}`,
)
export async function readUser(db: Db, id: string): Promise<JsonText<User> | undefined> {
  return (await db.run(read, { id }))[0]?.json
}

const update = statement(
  'update_user_profile',
  (args: { id: string; changes: string; username_key: string | null }) => sql<{ json: JsonText<User> }>`
    with changed as (
      select (jsonb_populate_record(person, ${args.changes}::jsonb)).* from users person where person.id = ${args.id}
    )
    update users person set
      username = changed.username, username_key = coalesce(${args.username_key}, person.username_key),
      firstname = changed.firstname, lastname = changed.lastname
    from changed
    where person.id = changed.id and (person.username, person.firstname, person.lastname)
      is distinct from (changed.username, changed.firstname, changed.lastname)
    returning ${userJson}::text as json`,
)
/** The profile after the change; undefined when nothing changed. */
export async function updateProfile(
  db: Db,
  id: string,
  changes: Partial<Pick<User, 'username' | 'firstname' | 'lastname'>>,
) {
  const username_key = changes.username === undefined ? null : keyOf(changes.username)
  return (await db.run(update, { id, changes: JSON.stringify(changes), username_key }))[0]?.json
}

interface Login {
  id: string
  hashed_password: string
  is_active: boolean
  /** The second of a token that is issued now: after a reset of the password, the first one that counts. */
  now_seconds: number
}
const login = statement(
  'read_login',
  (args: { email_key: string }) => sql<Login>`
    select id, hashed_password, is_active,
      floor(extract(epoch from greatest(clock_timestamp(), tokens_valid_from)))::int8 as now_seconds
    from users where email_key = ${args.email_key}`,
)
export async function readLogin(db: Db, email: string): Promise<Login | undefined> {
  return (await db.run(login, { email_key: keyOf(email) }))[0]
}

const password = statement('read_hashed_password', (args: { id: string }, query) =>
  query.selectFrom('users').select('hashed_password').where('id', '=', args.id),
)
export async function readHashedPassword(db: Db, id: string): Promise<string> {
  return (await db.run(password, { id }))[0]?.hashed_password ?? ''
}

const replacePassword = statement(
  'replace_password',
  (args: { id: string; old_hash: string; new_hash: string; token_hash: string }) => sql<{ id: string }>`
    update users set hashed_password = ${args.new_hash}, tokens_valid_from = clock_timestamp(), surviving_token_hash = ${args.token_hash}
    where id = ${args.id} and hashed_password = ${args.old_hash}
    returning id`,
)
/** False when the password was changed by somebody else in the meantime. */
export async function changePassword(
  db: Db,
  change: { id: string; old_hash: string; new_hash: string; token_hash: string },
) {
  return (await db.run(replacePassword, change)).length === 1
}

interface Search {
  pattern: string
  limit: number
}
/** Short terms match many users: walking them in order finds enough soon. */
const browse = statement(
  'browse_users',
  (args: Search & { with_email: boolean }) => sql<{ json: JsonText<User> }>`
    select ${userJson}::text as json from users person
    where person.is_active and (person.username_key like ${args.pattern} or (${args.with_email} and person.email_key like ${args.pattern}))
    order by person.username_key limit ${args.limit}`,
)
/** Longer ones match few: each branch asks its trigram index. */
const find = statement(
  'find_users',
  (args: Search) => sql<{ json: JsonText<User> }>`
    select ${userJson}::text as json from users person
    where person.is_active and person.id in (
      select id from users where username_key like ${args.pattern} union select id from users where email_key like ${args.pattern})
    order by person.username_key limit ${args.limit}`,
)
/** Active users whose username or e-mail address contains the term. E-mail addresses need two characters. */
export async function findUsers(db: Db, term: string, limit: number): Promise<JsonText<User[]>> {
  const key = keyOf(term)
  const pattern = `%${key.replaceAll(/[\\%_]/g, '\\$&')}%`
  const rows =
    key.length < 3
      ? await db.run(browse, { pattern, limit, with_email: key.length === 2 })
      : await db.run(find, { pattern, limit })
  return `[${rows.map((row) => row.json).join(',')}]` as JsonText<User[]>
}
