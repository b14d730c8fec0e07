import type { BoardAccess, Role } from '@lockstep/contract/operation'
import { type Resource, resourceNames, resources } from '@lockstep/contract/resources'
import { type RawBuilder, sql } from 'kysely'
import { type Db, type Statement, statement, wireTime } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import type { Credential } from '../security/tokens.ts'
import { type BoardVersion, profilesOfBoard } from './board-version.ts'
import type { BoardStream } from './event-log.ts'
import { LARGE_BODY_BYTES, type StoredResponse } from './idempotency.ts'
import { NO_USAGE, type Usage, usageColumns } from './quotas.ts'

/** An authenticated, active user. */
export interface Caller {
  id: string
  username: string
  credential: Credential
  /** The database's clock in seconds: tokens and password changes are dated by it. */
  now_seconds: number
}

/** Proof that the caller is authorized for an operation on the board. */
export interface BoardGrant {
  caller: Caller
  board_id: string
  role: Role
  epoch: number
  last_seq: number
  /** The database's clock at the access check: under the board lock, the time of the change. */
  at: string
  /** How much text the board has; null when it was not counted yet. */
  text_bytes: number | null
  /** The version of the board, if the full board was requested. */
  version?: BoardVersion
  /** The board's counters, as read by the statement that took its lock. */
  usage?: Usage
}

/** What the access statement returns. */
interface AccessRow {
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
  stored_response: StoredResponse | null
  profiles?: string
  text_bytes: number | null
}
interface AccessArguments {
  user_id: string
  target_id: string | null
  key: string | null
}

/** The rows of a resource, with the id of their board. */
const rowsOf = (resource: Resource) =>
  resource === 'board' ? sql`(select id as board_id, id from boards)` : sql.table(resources[resource].table)

const now = wireTime(sql`clock_timestamp()`)

/** Everything the authorization decision needs, in one statement: user, board, role, and a stored response for the key. */
const accessStatement = (name: string, target: RawBuilder<unknown>, more = sql``) =>
  statement(
    name,
    (args: AccessArguments) => sql<AccessRow>`
      select caller.id as user_id, caller.username, caller.is_active, caller.is_superuser, caller.surviving_token_hash,
        floor(extract(epoch from caller.tokens_valid_from))::int8 as tokens_valid_from,
        floor(extract(epoch from clock_timestamp()))::int8 as now_seconds,
        ${now} as at,
        target.board_id, membership.role, stream.epoch, stream.last_seq, stream.text_bytes,
        case when stored.key is not null then
          json_build_object('fingerprint', stored.fingerprint, 'status', stored.status, 'position', stored.position,
            'body', case when octet_length(stored.body) <= ${sql.lit(LARGE_BODY_BYTES)} then stored.body end,
            'large_body_bytes', case when octet_length(stored.body) > ${sql.lit(LARGE_BODY_BYTES)} then octet_length(stored.body) end)
        end as stored_response ${more}
      from users caller
      left join ${target} target on target.id = ${args.target_id}
      left join board_members membership on membership.board_id = target.board_id and membership.user_id = caller.id
      left join board_stream stream on stream.board_id = target.board_id
      left join stored_responses stored on stored.user_id = caller.id and stored.key = ${args.key}
        and stored.created_at > now() - interval '24 hours'
      where caller.id = ${args.user_id}`,
  )
const userAccess = accessStatement('check_user_access', sql`(select null::uuid as board_id, null::uuid as id)`)
const resourceAccess = Object.fromEntries(
  resourceNames.map((resource) => [resource, accessStatement(`check_${resource}_access`, rowsOf(resource))]),
) as Record<Resource, Statement<AccessArguments, AccessRow>>

/** Also reads the board's version, so that a cached board or a 304 needs no further statement. */
const fullBoardAccess = accessStatement(
  'check_full_board_access',
  rowsOf('board'),
  sql`, ${profilesOfBoard} as profiles`,
)

const lockBoard = statement(
  'lock_board',
  (args: { board_id: string }) => sql<Usage>`
    select ${usageColumns} from board_stream where board_id = ${args.board_id} for no key update`,
)
const insertStream = statement(
  'insert_board_stream',
  (args: { board_id: string }) => sql<Pick<BoardGrant, 'epoch' | 'last_seq' | 'at'>>`
    insert into board_stream (board_id, text_bytes, card_count, file_bytes) values (${args.board_id}, 0, 0, 0)
    returning epoch, last_seq, ${now} as at`,
)

/** What the caller wants to access, and with which credential. Without `access` no board is involved. */
export interface AccessRequest {
  credential: Credential
  access?: BoardAccess
  /** The id in the path; null when the path has none, or not a valid one. */
  targetId: string | null
  /** The path parameter `user_id`, for operations that members may do to themselves. */
  selfId?: string
  /** The Idempotency-Key. */
  key: string | null
  /** Whether the full board is requested, and so its version. */
  isLoad?: boolean
}

/** The result of the access statement. The caller is authenticated; `authorize` decides about the board. */
export interface AccessCheck {
  caller: Caller
  storedResponse: StoredResponse | null
  board_id: string | null
  /** Throws 404 or 403 unless the caller is authorized. */
  authorize: () => BoardGrant
  /** For the administration API, which has no boards. */
  requireSuperuser: () => void
}

/** Reads what authorization needs. Throws 401 unless the user is active and the token is valid. */
export async function checkAccess(db: Db, request: AccessRequest): Promise<AccessCheck> {
  const { credential, access, targetId, key, isLoad } = request
  const query = isLoad ? fullBoardAccess : access ? resourceAccess[access.on] : userAccess
  const [row] = await db.run(query, { user_id: credential.user_id, target_id: targetId, key })
  // Tokens are dated by the database's clock, so it decides when they expire.
  if (!row || credential.usableUntil <= row.now_seconds || isRevoked(credential, row))
    throw new Problem('not_authenticated')
  const caller = { id: row.user_id, username: row.username, credential, now_seconds: row.now_seconds }
  return {
    caller,
    storedResponse: row.stored_response,
    board_id: row.board_id,
    authorize: () => authorizeBoard(request, caller, row),
    requireSuperuser: () => {
      if (!row.is_superuser) throw new Problem('superuser_only')
    },
  }
}

/**
 * The same for a change: takes the board lock first and checks access in a later statement. A statement that did both would
 * see the state from before it waited, and let through a member who was removed meanwhile.
 */
export async function lockAndCheckAccess(tx: Db, board_id: string, request: AccessRequest): Promise<AccessCheck> {
  const [[usage = NO_USAGE], check] = await Promise.all([tx.run(lockBoard, { board_id }), checkAccess(tx, request)])
  const authorize = () => {
    const grant = check.authorize()
    // The id was deleted here and used again on another board, whose lock is not held.
    if (grant.board_id !== board_id) throw new Problem(`${request.access?.on ?? 'board'}_not_found`)
    return { ...grant, usage }
  }
  return { ...check, authorize }
}

const streamState = statement(
  'read_board_stream',
  (args: { board_id: string }) => sql<Pick<BoardGrant, 'epoch' | 'last_seq' | 'at'>>`
    select stream.epoch, stream.last_seq, ${now} as at
    from board_stream stream join boards board on board.id = stream.board_id where stream.board_id = ${args.board_id}`,
)
/** Takes the board lock for the service itself, without a caller to authorize. Undefined when the board does not exist. */
export async function lockBoardAsSystem(tx: Db, board_id: string): Promise<BoardStream | undefined> {
  const [[usage = NO_USAGE], [stream]] = await Promise.all([
    tx.run(lockBoard, { board_id }),
    tx.run(streamState, { board_id }),
  ])
  return stream && { ...stream, usage }
}

/** Creates the stream of a new board. It is the board lock, and proves that the id was never used. */
export async function createBoardStream(tx: Db, board_id: string, caller: Caller): Promise<BoardGrant> {
  const [stream] = await tx.run(insertStream, { board_id })
  return {
    caller,
    board_id,
    role: 'owner',
    text_bytes: 0,
    usage: NO_USAGE,
    ...(stream as Pick<BoardGrant, 'epoch' | 'last_seq' | 'at'>),
  }
}

/** The authorization decision. The only function that decides who may access a board, for every request and every socket. */
function authorizeBoard({ access, selfId }: AccessRequest, caller: Caller, row: AccessRow): BoardGrant {
  if (!access) throw new Error('An operation without a board has nothing to authorize')
  const { board_id, role, epoch, last_seq, at, text_bytes } = row
  if (board_id === null) throw new Problem(`${access.on}_not_found`)
  if (role === null) throw new Problem('not_a_member')
  const isSelf = access.or_self === true && selfId === caller.id
  if (access.role === 'owner' && role !== 'owner' && !isSelf) throw new Problem('role_too_low')
  const version =
    row.profiles === undefined ? undefined : { position: `${epoch}.${last_seq}`, profiles: row.profiles, text_bytes }
  return { caller, board_id, role, epoch, last_seq, at, text_bytes, ...(version && { version }) }
}

/** What decides whether a user's token is revoked. Times are in seconds. */
export type Revocation = Pick<AccessRow, 'is_active' | 'tokens_valid_from' | 'surviving_token_hash'>

/** A password change revokes every token that was issued before it, except the one that made it. */
export function isRevoked({ issued_at, token_hash }: Credential, user: Revocation) {
  if (!user.is_active) return true
  if (user.tokens_valid_from === null || issued_at >= user.tokens_valid_from) return false
  return token_hash !== user.surviving_token_hash
}

interface AuthorizedConnection {
  board_id: string
  user_id: string
  issued_at: number
  token_hash: string
}
const revokedConnections = statement(
  'find_revoked_connections',
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
/** Repeats the authorization decision for open sockets. Returns the indexes of those that are no longer authorized. */
export async function findRevokedConnections(db: Db, connections: readonly AuthorizedConnection[]): Promise<number[]> {
  const rows = await db.run(revokedConnections, {
    board_ids: connections.map((c) => c.board_id),
    user_ids: connections.map((c) => c.user_id),
    issued_ats: connections.map((c) => c.issued_at),
    token_hashes: connections.map((c) => c.token_hash),
  })
  return rows.map((row) => row.nth - 1)
}
