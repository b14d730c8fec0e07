import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { type RawBuilder, sql } from 'kysely'
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

export interface TokenStart {
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
  /**
   * Whether a part of any e-mail address matches. Otherwise only a full address matches, or a part for members of common boards,
   * and a search without a term finds only these.
   */
  isOpen: boolean
}
export interface UserSearch {
  callerId: string
  term: string
  withNames: boolean
  limit: number
}
/** Users that one search reads in the order of their usernames. */
const BROWSED_USERS = 10_000
/** Users that one search reads from an index of what they contain. */
const MAX_CANDIDATES = 1_000
/** Pairs of letters of a term that are looked up in their index. */
const INDEXED_PAIRS = 8
/** Memberships of the caller's boards that one search reads. */
const MAX_COLLEAGUES = 2_000

interface SearchArguments extends Pick<UserSearch, 'withNames' | 'limit'>, Directory {
  key: string
  pattern: string
  /** Matches every text that contains the term, and few others. */
  indexPattern: string
  /** Pairs of letters in the term. */
  pairs: string[]
  /** Usernames that are found by their e-mail address. */
  byEmail: string[]
}
interface FoundUser {
  json: JsonText<User>
  /** How many users the statement found before it took the first ones. */
  found: number
}

/** The members of the caller's boards. Some are listed several times. */
const colleaguesOf = (callerId: string) => sql<{ user_id: string }>`(
  select theirs.user_id from board_members mine join board_members theirs on theirs.board_id = mine.board_id
  where mine.user_id = ${callerId} limit ${sql.lit(MAX_COLLEAGUES)})`

const byEmail = statement(
  'find_usernames_by_email',
  (args: { callerId: string; key: string; pattern: string; limit: number }) => sql<{ username_key: string }>`
    select username_key from users where email_key = ${args.key} and is_active
    union select username_key from users where is_active and email_key like ${args.pattern} and id = any(array${colleaguesOf(args.callerId)})
    order by username_key limit ${args.limit}`,
)

/** The profiles of the first of the users in `found`, which has their usernames. */
const profilesOf = ({ byEmail, limit }: Pick<SearchArguments, 'byEmail' | 'limit'>) => sql<FoundUser>`
  select profile.json, (select count(*) from found) as found
  from (select username_key from found union select unnest(${byEmail}::text[]) order by username_key limit ${limit}) first
  cross join lateral (select ${userJson}::text as json from users person where person.username_key = first.username_key limit 1) profile
  order by first.username_key`

/** Each user is read by their id. Otherwise PostgreSQL may read all users in the order of usernames. */
const colleagues = statement(
  'find_colleagues',
  (args: { callerId: string; limit: number; byEmail: string[] }) => sql<FoundUser>`
    with colleagues as materialized (select ${args.callerId}::uuid as user_id union ${colleaguesOf(args.callerId)}),
    found as materialized (
      select person.username_key from colleagues
      cross join lateral (select username_key, is_active from users where id = colleagues.user_id limit 1) person
      where person.is_active
    ) ${profilesOf(args)}`,
)

/** Reads users in the order of their usernames. Soon finds enough for a term that matches many. */
const browse = statement(
  'browse_users',
  (args: SearchArguments) => sql<FoundUser>`
    with found as materialized (
      select username_key from (select username_key, email_key, name_key, is_active from users order by username_key limit ${sql.lit(BROWSED_USERS)}) person
      where is_active and (username_key like ${args.pattern} or (${args.isOpen}::boolean and email_key like ${args.pattern})
        or (${args.withNames}::boolean and name_key like ${args.pattern}))
      order by username_key limit ${args.limit}
    ) ${profilesOf(args)}`,
)

/**
 * Reads the users that an index finds, in no order. `contains` is the condition on a column. The next column is read only if few users
 * were found by the ones before. Materialized, so that PostgreSQL does not expect to find enough soon by reading the table.
 */
const candidatesBy = (args: SearchArguments, contains: (column: RawBuilder<string>) => RawBuilder<boolean>) => {
  const where = (column: string) => sql`
    select username_key from users where is_active and ${contains(sql.ref(column))} and strpos(${sql.ref(column)}, ${args.key}) > 0`
  const max = sql.lit(MAX_CANDIDATES)
  return sql<FoundUser>`
    with with_username as materialized (${where('username_key')}),
    by_username as materialized (select username_key from with_username limit ${max}),
    with_email as materialized (${where('email_key')}),
    by_email as materialized (
      select username_key from with_email
      where ${args.isOpen}::boolean and (select count(*) from by_username) < ${max} limit ${max}),
    with_name as materialized (${where('name_key')}),
    by_name as materialized (
      select username_key from with_name
      where ${args.withNames}::boolean and greatest((select count(*) from by_username), (select count(*) from by_email)) < ${max} limit ${max}),
    found as materialized (
      select username_key from by_username union all select username_key from by_email union all select username_key from by_name
    ) ${profilesOf(args)}`
}
const find = statement('find_users', (args: SearchArguments) =>
  candidatesBy(args, (column) => sql`${column} like ${args.indexPattern}`),
)
const findByPairs = statement('find_users_by_pairs', (args: SearchArguments) =>
  candidatesBy(args, (column) => sql`letter_pairs(${column}) @> ${args.pairs}::text[]`),
)
/**
 * Whether the index of trigrams is the better one. It finds nothing for less than three letters in a row, and too much for `e.joh`: everything
 * with `joh`. PostgreSQL may count letters of other alphabets as punctuation.
 */
function hasTrigrams(key: string): boolean {
  const words = key.split(/[^a-z0-9]+/).filter((word) => word !== '')
  return words.length > 0 && words.every((word) => word.length >= 3)
}

/**
 * Active users whose username, e-mail address or names contain the term, within the limits of the directory, ordered by username. Reads a
 * bounded number of users: in the order of usernames, which finds enough for a term that matches many, and otherwise from an index
 * of what they contain. If more users match than are read, some of them are returned.
 * Users that the index finds and the term does not match are read in addition. In a directory that is not open, a search without a
 * term would list strangers with their addresses; it finds the caller and the members of their boards.
 */
export async function findUsers(
  db: Db,
  { term, callerId, ...search }: UserSearch & Directory,
): Promise<JsonText<User[]>> {
  const { limit, isOpen } = search
  const key = keyOf(term)
  if (key === '' && !isOpen) return listOf(await db.run(colleagues, { callerId, limit, byEmail: [] }))
  const pattern = patternOf(key)
  const named = isOpen ? [] : await db.run(byEmail, { callerId, key, pattern, limit })
  const namedKeys = named.map((row) => row.username_key)
  const args = {
    ...search,
    // No address contains a space, but the normal form of one may.
    isOpen: isOpen && !/\s/.test(term),
    key,
    pattern,
    indexPattern: indexPatternOf(key),
    pairs: pairsOf(key),
    byEmail: namedKeys,
  }
  const first = await db.run(browse, args)
  const isFull = first[0] !== undefined && first[0].found >= limit
  const rows = isFull ? first : await db.run(hasTrigrams(key) ? find : findByPairs, args)
  return listOf(rows)
}

const listOf = (rows: readonly { json: JsonText<User> }[]) =>
  `[${rows.map((row) => row.json).join(',')}]` as JsonText<User[]>

/** Matches every text that contains the key. */
export const patternOf = (key: string) => `%${key.replaceAll(/[\\%_]/g, '\\$&')}%`

/**
 * Without most of the domain of an e-mail address: many addresses have the same, and each of its trigrams takes milliseconds. The part
 * before it must have a trigram, because a pattern without any reads the whole index.
 */
const indexPatternOf = (key: string) => patternOf(/^[^@]*[a-z0-9]{3}[^@]*@.{0,3}/u.exec(key)?.[0] ?? key)

/** Some of what the function `letter_pairs` finds in every text that contains the term: first those with punctuation, which are rarer. */
function pairsOf(key: string): string[] {
  const letters = Array.from(key)
  if (letters.length === 1) return letters
  const pairs = new Set(letters.slice(1).map((letter, i) => `${letters[i]}${letter}`))
  const isWord = (pair: string) => Number(/^[a-z0-9]+$/.test(pair))
  return [...pairs].sort((a, b) => isWord(a) - isWord(b)).slice(0, INDEXED_PAIRS)
}
