import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'

/** The public profile, of the row `person` of the table `users`. The only list of what other users may see. */
export const userJson = sql<User>`(select row_to_json(fields) from (select
  person.id, person.email, person.username, person.firstname, person.lastname,
  person.is_active, person.is_verified, person.is_superuser) fields)`

/**
 * The normal form of e-mail addresses and usernames, for comparison and search. Lower, upper and lower case again: this unifies
 * letters that have only one case, and the two forms of the Greek sigma.
 */
export const keyOf = (name: string) =>
  name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')

export interface NewUser {
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
}
const login = statement('read_login', (args: { email_key: string }, query) =>
  query.selectFrom('users').select(['id', 'hashed_password', 'is_active']).where('email_key', '=', args.email_key),
)
export async function readLogin(db: Db, email: string): Promise<Login | undefined> {
  return (await db.run(login, { email_key: keyOf(email) }))[0]
}

const password = statement('read_own_password', (args: { id: string }, query) =>
  query.selectFrom('users').select(['hashed_password', 'email', 'username']).where('id', '=', args.id),
)
/** The hash, and the names that a new password must differ from. */
export async function readOwnPassword(db: Db, id: string) {
  return (await db.run(password, { id }))[0] ?? { hashed_password: '', email: '', username: '' }
}

interface TokenStart {
  is_active: boolean
  is_superuser: boolean
  hashed_password: string
  tokens_valid_from: number | null
  surviving_token_hash: string | null
  /** The issue time of a new token: now, or the first second that is not revoked, if that is later. */
  issued_at: number
}
const tokenStart = statement(
  'read_token_start',
  (args: { id: string }) => sql<TokenStart>`
    select is_active, is_superuser, hashed_password, surviving_token_hash, floor(extract(epoch from tokens_valid_from))::int8 as tokens_valid_from,
      floor(extract(epoch from greatest(clock_timestamp(), tokens_valid_from)))::int8 as issued_at
    from users where id = ${args.id} for share`,
)
/** Call it immediately before a token is issued: it waits for a concurrent revocation, and sees it. */
export async function readTokenStart(db: Db, id: string): Promise<TokenStart | undefined> {
  return (await db.run(tokenStart, { id }))[0]
}

/**
 * The new `tokens_valid_from` when all tokens of a user are revoked: the next second, because an attacker may have refreshed a
 * token in this one. After an earlier revocation in the same second it is one later, because logins got tokens of the next.
 */
export const nextTokenSecond = sql`greatest(date_trunc('second', clock_timestamp()), users.tokens_valid_from) + interval '1 second'`

export interface PasswordChange {
  id: string
  old_hash: string
  new_hash: string
  /** Of the session that makes the change. */
  token_hash: string
}
/**
 * The row is locked before the clock is read, and `read_token_start` waits for that lock: a token that is issued at the same
 * time either has an earlier second or sees the change. The audit log gets its entry in the same statement.
 */
const replacePassword = statement(
  'replace_password',
  (args: PasswordChange) => sql<{ id: string }>`
    with locked as materialized (select id from users where id = ${args.id} and hashed_password = ${args.old_hash} for no key update),
    changed as (
      update users set hashed_password = ${args.new_hash}, surviving_token_hash = ${args.token_hash}, tokens_valid_from = ${nextTokenSecond}
      from locked where users.id = locked.id
      returning users.id
    )
    insert into admin_actions (actor_id, action, target_id) select id, 'change-password', id from changed
    returning target_id as id`,
)
/** False when the password was changed in the meantime. */
export async function changePassword(db: Db, change: PasswordChange): Promise<boolean> {
  return (await db.run(replacePassword, change)).length === 1
}

const endSessions = statement(
  'end_sessions',
  (args: { id: string }) => sql`
    with locked as materialized (select id from users where id = ${args.id} for no key update)
    update users set surviving_token_hash = null, tokens_valid_from = ${nextTokenSecond} from locked where users.id = locked.id`,
)
/** Revokes every issued token. */
export async function endAllSessions(db: Db, id: string) {
  await db.run(endSessions, { id })
}

/** How users may be searched. */
export interface Directory {
  /** Whether a part of any e-mail address matches. Otherwise only a full address matches, or a part for members of common boards. */
  isOpen: boolean
}
export interface UserSearch {
  callerId: string
  term: string
  withNames: boolean
  limit: number
}
interface SearchArguments extends Pick<UserSearch, 'callerId' | 'withNames' | 'limit'>, Directory {
  key: string
  pattern: string
}
/** The normal form of first and last name. The index `users_names_search` has the same expression. */
const namesOf = (person: string) => {
  const column = (name: string) => sql`coalesce(${sql.ref(`${person}.${name}`)}, '')`
  return sql`search_key(normalize(${column('firstname')} || ' ' || ${column('lastname')}, NFKC))`
}
/** The members of the caller's boards. */
const colleagues = (callerId: string) => sql`(
  select theirs.user_id from board_members mine join board_members theirs on theirs.board_id = mine.board_id
  where mine.user_id = ${callerId})`

/** For short terms, which match many users: scans the users in order and soon finds enough. */
const browse = statement(
  'browse_users',
  (args: SearchArguments) => sql<{ json: JsonText<User> }>`
    select ${userJson}::text as json from users person
    where person.is_active and (person.username_key like ${args.pattern} or person.email_key = ${args.key}
      or (person.email_key like ${args.pattern} and (${args.isOpen}::boolean or person.id in ${colleagues(args.callerId)}))
      or (${args.withNames}::boolean and ${namesOf('person')} like ${args.pattern}))
    order by person.username_key limit ${args.limit}`,
)
/** For longer terms, which match few users: each branch uses its trigram index. */
const find = statement(
  'find_users',
  (args: SearchArguments) => sql<{ json: JsonText<User> }>`
    select ${userJson}::text as json from users person
    where person.is_active and person.id in (
      select id from users where username_key like ${args.pattern}
      union select id from users where email_key = ${args.key}
      union select id from users where email_key like ${args.pattern} and (${args.isOpen}::boolean or id in ${colleagues(args.callerId)})
      union select id from users where ${args.withNames}::boolean and ${namesOf('users')} like ${args.pattern})
    order by person.username_key limit ${args.limit}`,
)
/** Active users whose username, e-mail address or names contain the term, within the limits of the directory. */
export async function findUsers(db: Db, { term, ...search }: UserSearch & Directory): Promise<JsonText<User[]>> {
  const key = keyOf(term)
  const pattern = `%${key.replaceAll(/[\\%_]/g, '\\$&')}%`
  const rows = await db.run(key.length < 3 ? browse : find, { ...search, key, pattern })
  return `[${rows.map((row) => row.json).join(',')}]` as JsonText<User[]>
}
