import type { BoardAccess, Resource, Role } from '@lockstep/contract/operation'
import type { ProblemCode } from '@lockstep/contract/problems'
import { type RawBuilder, sql } from 'kysely'
import { type BoardVersion, profilesOfBoard } from './board-version.ts'
import { type Db, type Statement, statement, wireTime } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { NO_USAGE, type Usage, usageColumns } from './quotas.ts'
import type { Credential } from '../security/tokens.ts'

/** The answer that an earlier request with the same Idempotency-Key was given. */
export interface StoredAnswer {
  fingerprint: string
  status: number
  /** JSON text; null for an answer without a body, and for a large one. */
  body: string | null
  position: string | null
  /** Of a body that is not read with the caller, because many requests with its key could hold it at once. */
  large_body_bytes: number | null
}

const LARGE_BODY_BYTES = 65_536

const storedBody = statement(
  'read_stored_body',
  (args: { user_id: string; key: string }) => sql<{ body: string }>`
    select body from stored_answers where user_id = ${args.user_id} and key = ${args.key}`,
)
/** The body of a stored answer that was too large to be read with the caller. */
export async function readStoredBody(db: Db, user_id: string, key: string): Promise<string> {
  const [stored] = await db.run(storedBody, { user_id, key })
  // It was removed in this moment, after its day: the client may send the request again.
  if (!stored) throw new Problem('overloaded')
  return stored.body
}

/** A user who has proved who he is and is active. */
export interface Caller {
  id: string
  username: string
  credential: Credential
  /** The database's clock, in seconds: the one that tokens and password changes are dated by. */
  now_seconds: number
}

/** The board that an operation is about, entered by somebody who may. */
export interface Entry {
  caller: Caller
  board_id: string
  role: Role
  epoch: number
  last_seq: number
  /** The database's clock as the board was entered: under its lock, the moment of the change. */
  at: string
  /** How much text the board has; null when it was not counted yet. */
  text_bytes: number | null
  /** What the board looks like to who asked for it. */
  version?: BoardVersion
  /** The board's counters, as read by the statement that took its lock. */
  usage?: Usage
}

interface Sight {
  user_id: string
  username: string
  is_active: boolean
  is_superuser: boolean
  tokens_valid_from: number | null
  surviving_token_hash: string | null
  now_seconds: number
  at: string
  board_id: string | null
  role: Role | null
  epoch: number
  last_seq: number
  answer: StoredAnswer | null
  profiles?: string
  text_bytes: number | null
}
interface Looked {
  user_id: string
  target_id: string | null
  key: string | null
}

const tableOf: Record<Resource, { from: RawBuilder<unknown>; missing: ProblemCode }> = {
  board: { from: sql`(select id as board_id, id from boards)`, missing: 'board_not_found' },
  column: { from: sql`columns`, missing: 'column_not_found' },
  card: { from: sql`cards`, missing: 'card_not_found' },
  label: { from: sql`labels`, missing: 'label_not_found' },
  checklist: { from: sql`checklists`, missing: 'checklist_not_found' },
  rule: { from: sql`automation_rules`, missing: 'rule_not_found' },
  item: { from: sql`checklist_items`, missing: 'item_not_found' },
  attachment: { from: sql`attachments`, missing: 'attachment_not_found' },
}

const now = wireTime(sql`clock_timestamp()`)

/** All that must be known before anybody may do anything, in one statement: user, board, role, and a stored answer. */
const look = (name: string, target: RawBuilder<unknown>, more = sql``) =>
  statement(
    name,
    (args: Looked) => sql<Sight>`
      select caller.id as user_id, caller.username, caller.is_active, caller.is_superuser, caller.surviving_token_hash,
        floor(extract(epoch from caller.tokens_valid_from))::int8 as tokens_valid_from,
        floor(extract(epoch from clock_timestamp()))::int8 as now_seconds,
        ${now} as at,
        target.board_id, membership.role, stream.epoch, stream.last_seq, stream.text_bytes,
        case when answer.key is not null then
          json_build_object('fingerprint', answer.fingerprint, 'status', answer.status, 'position', answer.position,
            'body', case when octet_length(answer.body) <= ${sql.lit(LARGE_BODY_BYTES)} then answer.body end,
            'large_body_bytes', case when octet_length(answer.body) > ${sql.lit(LARGE_BODY_BYTES)} then octet_length(answer.body) end)
        end as answer ${more}
      from users caller
      left join ${target} target on target.id = ${args.target_id}
      left join board_members membership on membership.board_id = target.board_id and membership.user_id = caller.id
      left join board_stream stream on stream.board_id = target.board_id
      left join stored_answers answer on answer.user_id = caller.id and answer.key = ${args.key}
        and answer.created_at > now() - interval '24 hours'
      where caller.id = ${args.user_id}`,
  )
const lookAtUser = look('look_at_user', sql`(select null::uuid as board_id, null::uuid as id)`)
const lookAt = Object.fromEntries(
  Object.entries(tableOf).map(([resource, { from }]) => [resource, look(`look_at_${resource}`, from)]),
) as Record<Resource, Statement<Looked, Sight>>

/** The same with the state of the board, so that nothing else is asked when the caller's or the cache's is that one. */
const lookAtVersion = look('look_at_board_version', tableOf.board.from, sql`, ${profilesOfBoard} as profiles`)

const lockBoard = statement(
  'lock_board',
  (args: { board_id: string }) => sql<Usage>`
    select ${usageColumns} from board_stream where board_id = ${args.board_id} for no key update`,
)
const foundStream = statement(
  'found_board_stream',
  (args: { board_id: string }) => sql<Pick<Entry, 'epoch' | 'last_seq' | 'at'>>`
    insert into board_stream (board_id, text_bytes, card_count, file_bytes) values (${args.board_id}, 0, 0, 0)
    returning epoch, last_seq, ${now} as at`,
)

/** What the caller wants to enter, and with what. Without `access` there is no board in question. */
export interface Approach {
  credential: Credential
  access?: BoardAccess
  /** The id in the path; null when what stood there is no id at all. */
  target_id: string | null
  /** The path parameter `user_id`, for what a member may do to himself. */
  self_id?: string
  key: string | null
  /** Whether all of the board is asked for, and so its version. */
  is_load?: boolean
}

/** What stands before the door: an authenticated caller, the answer he may have had before, and the way in. */
export interface Threshold {
  caller: Caller
  answer: StoredAnswer | null
  board_id: string | null
  enter: () => Entry
  /** The door of the administration: refuses whoever is no superuser. Boards have another one, and it asks for members. */
  demandSuperuser: () => void
}

/** Looks before anything else happens: refuses whoever is not an active user, and tells what is there. */
export async function approachBoard(db: Db, approach: Approach): Promise<Threshold> {
  const { credential, access, target_id, key, is_load } = approach
  const look_at = is_load ? lookAtVersion : access ? lookAt[access.on] : lookAtUser
  const [sight] = await db.run(look_at, { user_id: credential.user_id, target_id, key })
  // The database's clock dates tokens, so it decides when they end.
  if (!sight || credential.usable_until <= sight.now_seconds || isRevoked(credential, sight))
    throw new Problem('not_authenticated')
  const caller = { id: sight.user_id, username: sight.username, credential, now_seconds: sight.now_seconds }
  return {
    caller,
    answer: sight.answer,
    board_id: sight.board_id,
    enter: () => enterBoard(approach, caller, sight),
    demandSuperuser: () => {
      if (!sight.is_superuser) throw new Problem('superuser_only')
    },
  }
}

/**
 * The same for a change: takes the board's lock first and looks in a later statement, so that a member who was removed
 * while this waited for the lock is refused.
 */
export async function approachLocked(tx: Db, board_id: string, approach: Approach): Promise<Threshold> {
  const [[usage = NO_USAGE], threshold] = await Promise.all([
    tx.run(lockBoard, { board_id }),
    approachBoard(tx, approach),
  ])
  const enter = () => {
    const entry = threshold.enter()
    // An id that was deleted here and used again on another board: that board is not the one we hold.
    if (entry.board_id !== board_id) throw new Problem(tableOf[approach.access?.on ?? 'board'].missing)
    return { ...entry, usage }
  }
  return { ...threshold, enter }
}

const lookAtStream = statement(
  'look_at_stream',
  (args: { board_id: string }) => sql<Pick<Entry, 'epoch' | 'last_seq' | 'at'>>`
    select stream.epoch, stream.last_seq, ${now} as at
    from board_stream stream join boards board on board.id = stream.board_id where stream.board_id = ${args.board_id}`,
)
/**
 * The service's own way to a board: under the same lock, and past the door, because nobody asks who could be judged. For
 * what must happen whoever the members are: erasing one of them. Undefined when the board is gone.
 */
export async function lockUnasked(tx: Db, board_id: string) {
  const [[usage = NO_USAGE], [stream]] = await Promise.all([
    tx.run(lockBoard, { board_id }),
    tx.run(lookAtStream, { board_id }),
  ])
  return stream && { ...stream, usage }
}

/** Brings a board into being. Its stream is its lock, and the proof that its id was never used before. */
export async function foundBoard(tx: Db, board_id: string, caller: Caller): Promise<Entry> {
  const [stream] = await tx.run(foundStream, { board_id })
  return {
    caller,
    board_id,
    role: 'owner',
    text_bytes: 0,
    usage: NO_USAGE,
    ...(stream as Pick<Entry, 'epoch' | 'last_seq' | 'at'>),
  }
}

/** The door. The only function that decides who may touch a board; every request and every socket passes it. */
function enterBoard({ access, self_id }: Approach, caller: Caller, sight: Sight): Entry {
  if (!access) throw new Error('An operation without a board has no door to pass')
  const { board_id, role, epoch, last_seq, at, text_bytes } = sight
  if (board_id === null) throw new Problem(tableOf[access.on].missing)
  if (role === null) throw new Problem('not_a_member')
  const isSelf = access.or_self === true && self_id === caller.id
  if (access.role === 'owner' && role !== 'owner' && !isSelf) throw new Problem('role_too_low')
  const version =
    sight.profiles === undefined
      ? undefined
      : { position: `${epoch}.${last_seq}`, profiles: sight.profiles, text_bytes }
  return { caller, board_id, role, epoch, last_seq, at, text_bytes, ...(version && { version }) }
}

/** What decides whether a user's token is revoked. Times are in seconds. */
export type Revocation = Pick<Sight, 'is_active' | 'tokens_valid_from' | 'surviving_token_hash'>

/** A password change revokes every token that was issued up to then, but for the one that made it. */
export function isRevoked({ issued_at, token_hash }: Credential, user: Revocation) {
  if (!user.is_active) return true
  if (user.tokens_valid_from === null || issued_at >= user.tokens_valid_from) return false
  return token_hash !== user.surviving_token_hash
}

interface Welcome {
  board_id: string
  user_id: string
  issued_at: number
  token_hash: string
}
const unwelcome = statement(
  'read_unwelcome',
  (args: { board_ids: string[]; user_ids: string[]; issued_ats: number[]; token_hashes: string[] }) => sql<{
    nth: number
  }>`
    select connection.nth from unnest(${args.board_ids}::uuid[], ${args.user_ids}::uuid[], ${args.issued_ats}::int8[], ${args.token_hashes}::text[])
      with ordinality connection (board_id, user_id, issued_at, token_hash, nth)
    left join users person on person.id = connection.user_id
    left join board_members membership on membership.board_id = connection.board_id and membership.user_id = connection.user_id
    where membership.user_id is null or person.is_active is not true
      or (connection.issued_at < floor(extract(epoch from person.tokens_valid_from))
        and connection.token_hash is distinct from person.surviving_token_hash)`,
)
/** The door once more, for connections that passed it earlier: which of them would be refused now, by their place in the list. */
export async function readUnwelcome(db: Db, connections: readonly Welcome[]): Promise<number[]> {
  const rows = await db.run(unwelcome, {
    board_ids: connections.map((c) => c.board_id),
    user_ids: connections.map((c) => c.user_id),
    issued_ats: connections.map((c) => c.issued_at),
    token_hashes: connections.map((c) => c.token_hash),
  })
  return rows.map((row) => row.nth - 1)
}
