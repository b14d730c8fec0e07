import { type BoardAccess, type Role, type Scope, scopes, type TokenRequirement } from '@lockstep/contract/operation'
import { definitionOf, type Resource, resourceNames, resources } from '@lockstep/contract/resources'
import { type RawBuilder, sql } from 'kysely'
import { type Db, type Statement, statement, wireTime } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import type { Credential, SessionCredential } from '../security/tokens.ts'
import { type BoardVersion, profilesOfBoard } from './board-version.ts'
import type { BoardStream } from './event-log.ts'
import { LARGE_BODY_BYTES, type StoredResponse } from './idempotency.ts'
import { useInvitation } from './invitation-access.ts'
import { NO_USAGE, type Usage, usageColumns } from './quotas.ts'

/** The access token of a request. */
export interface CallerToken {
  name: string
  scope: Scope
  /** The only board that it gives access to; null: all boards of its user. */
  board_id: string | null
  /** In seconds since the epoch; null: never. */
  expires_at: number | null
}

/** An authenticated, active user. */
export interface Caller {
  id: string
  username: string
  is_superuser: boolean
  credential: Credential
  /** Null for a login. */
  token: CallerToken | null
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
  is_archived: boolean | null
  /** Only of a resource that has an author. */
  author_id?: string | null
  /** Only with an access token. */
  token?: CallerToken
}
interface AccessArguments {
  user_id: string
  target_id: string | null
  key: string | null
}
type TokenAccessArguments = Omit<AccessArguments, 'user_id'> & { token_id: string }

/**
 * Rows that are part of a card, with the id of their board. A card that was archived or deleted has no column: it and its parts
 * do not exist for any operation.
 */
const partsOfCards: Partial<Record<Resource, RawBuilder<unknown>>> = {
  card: sql`(select board_id, id from cards where column_id is not null)`,
  checklist: sql`(select part.board_id, part.id from checklists part
    join cards card on card.board_id = part.board_id and card.id = part.card_id where card.column_id is not null)`,
  item: sql`(select part.board_id, part.id from checklist_items part
    join checklists checklist on checklist.board_id = part.board_id and checklist.id = part.checklist_id
    join cards card on card.board_id = checklist.board_id and card.id = checklist.card_id where card.column_id is not null)`,
  comment: sql`(select part.board_id, part.id, part.author_id from comments part
    join cards card on card.board_id = part.board_id and card.id = part.card_id where card.column_id is not null)`,
  attachment: sql`(select part.board_id, part.id from attachments part
    join cards card on card.board_id = part.board_id and card.id = part.card_id where card.column_id is not null)`,
}
/** The rows of a resource, with the id of their board. */
const rowsOf = (resource: Resource) =>
  resource === 'board'
    ? sql`(select id as board_id, id from boards)`
    : (partsOfCards[resource] ?? sql.table(resources[resource].table))

const now = wireTime(sql`clock_timestamp()`)

/** What is known of the user. */
const callerColumns = sql`caller.id as user_id, caller.username, caller.is_active, caller.is_superuser, caller.surviving_token_hash,
        floor(extract(epoch from caller.tokens_valid_from))::int8 as tokens_valid_from,
        floor(extract(epoch from clock_timestamp()))::int8 as now_seconds,
        ${now} as at`
const storedColumn = sql`case when stored.key is not null then
          json_build_object('fingerprint', stored.fingerprint, 'status', stored.status, 'position', stored.position,
            'body', case when octet_length(stored.body) <= ${sql.lit(LARGE_BODY_BYTES)} then stored.body end,
            'large_body_bytes', case when octet_length(stored.body) > ${sql.lit(LARGE_BODY_BYTES)} then octet_length(stored.body) end)
        end as stored_response`
const joinStored = (args: { key: string | null }) => sql`left join stored_responses stored
        on stored.user_id = caller.id and stored.key = ${args.key} and stored.created_at > now() - interval '24 hours'`
const ofTokenBoard = sql`and (token.board_id is null or stored.board_id = token.board_id)`
/** The columns that the authorization decision needs, and a stored response for the key. */
const accessColumns = sql`${callerColumns},
        target.board_id, membership.role, stream.epoch, stream.last_seq, stream.text_bytes, stream.archived_at is not null as is_archived,
        ${storedColumn}`
const accessJoins = (
  target: RawBuilder<unknown>,
  args: Pick<AccessArguments, 'target_id' | 'key'>,
) => sql`left join ${target} target on target.id = ${args.target_id}
      left join board_members membership on membership.board_id = target.board_id and membership.user_id = caller.id
      left join board_stream stream on stream.board_id = target.board_id
      ${joinStored(args)}`

/** Everything the authorization decision needs, in one statement: user, board, role, and a stored response for the key. */
const sessionAccess = (name: string, target: RawBuilder<unknown>, more: RawBuilder<unknown>) =>
  statement(
    name,
    (args: AccessArguments) => sql<AccessRow>`
      select ${accessColumns} ${more}
      from users caller
      ${accessJoins(target, args)}
      where caller.id = ${args.user_id}`,
  )

const tokenColumn = sql`json_build_object('name', token.name, 'scope', token.scope, 'board_id', token.board_id,
          'expires_at', ceil(extract(epoch from token.expires_at))::int8) as token`
const isValidToken = (args: { token_id: string }) =>
  sql`token.id = ${args.token_id} and (token.expires_at is null or token.expires_at > clock_timestamp())`
/**
 * The same with an access token, which must be valid. A token of one board does not see stored responses of other boards: it
 * could guess their keys.
 */
const tokenAccess = (name: string, target: RawBuilder<unknown>, more: RawBuilder<unknown>) =>
  statement(
    name,
    (args: TokenAccessArguments) => sql<AccessRow>`
      select ${accessColumns} ${more}, ${tokenColumn}
      from access_tokens token join users caller on caller.id = token.user_id
      ${accessJoins(target, args)} ${ofTokenBoard}
      where ${isValidToken(args)}`,
  )

/** How access to something is read: for a login, and for an access token. */
interface AccessStatements {
  session: Statement<AccessArguments, AccessRow>
  token: Statement<TokenAccessArguments, AccessRow>
}
const accessStatements = (subject: string, target: RawBuilder<unknown>, more = sql``): AccessStatements => ({
  session: sessionAccess(`check_${subject}_access`, target, more),
  token: tokenAccess(`check_token_${subject}_access`, target, more),
})
const userAccess = accessStatements('user', sql`(select null::uuid as board_id, null::uuid as id)`)
const resourceAccess = Object.fromEntries(
  resourceNames.map((resource) => {
    const author = definitionOf(resource).hasAuthor ? sql`, target.author_id` : sql``
    return [resource, accessStatements(resource, rowsOf(resource), author)]
  }),
) as Record<Resource, AccessStatements>

/** Also reads the board's version, so that a cached board or a 304 needs no further statement. */
const fullBoardAccess = accessStatements('full_board', rowsOf('board'), sql`, ${profilesOfBoard} as profiles`)

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
  /** Whether it is a change, which an archived board rejects. */
  isChange?: boolean
  /** Whether the full board is requested, and so its version. */
  isLoad?: boolean
  /** The hash of an invitation link, with which a user who is not a member joins the board. Only for a change. */
  invitationHash?: string
  /** What is required of an access token. */
  required: TokenRequirement | 'never'
}

/** The result of the access statement. The caller is authenticated; `authorize` decides about the board. */
export interface AccessCheck {
  caller: Caller
  storedResponse: StoredResponse | null
  board_id: string | null
  /** Throws 404, 403 or 409 (archived board) unless the caller is authorized: as a member, or by an invitation with this role. */
  authorize: (invitedRole?: Role) => BoardGrant
  /** For the administration API, which has no boards. */
  requireSuperuser: () => void
}

/**
 * Reads what authorization needs. Throws 401 unless the user is active and the token is valid, and 403 if no resource matters
 * because an access token may not do this at all.
 */
export async function checkAccess(db: Db, request: AccessRequest): Promise<AccessCheck> {
  return decide(request, await readAccess(db, request))
}

function decide(request: AccessRequest, row: AccessRow | undefined): AccessCheck {
  const { credential, required } = request
  // Tokens are dated by the database's clock, so it decides when they expire.
  if (!row || credential.usableUntil <= row.now_seconds || isRejected(credential, row))
    throw new Problem('not_authenticated')
  const { user_id: id, username, is_superuser, now_seconds, token = null } = row
  if (token) requireScope(token, required)
  const caller = { id, username, is_superuser, credential, token, now_seconds }
  return {
    caller,
    storedResponse: row.stored_response,
    board_id: row.board_id,
    authorize: (invitedRole) => authorizeBoard(request, caller, row, invitedRole),
    requireSuperuser: () => {
      if (!row.is_superuser) throw new Problem('superuser_only')
    },
  }
}

async function readAccess(db: Db, { credential, access, targetId, key, isLoad }: AccessRequest) {
  const statements = isLoad ? fullBoardAccess : access ? resourceAccess[access.on] : userAccess
  const { user_id, token_id } = credential
  const target = { target_id: targetId, key }
  const rows = await (token_id === undefined
    ? db.run(statements.session, { user_id, ...target })
    : db.run(statements.token, { token_id, ...target }))
  return rows[0]
}

/** Throws 403 when the token may not call the operation, whatever it is about. */
function requireScope({ scope, board_id }: CallerToken, required: AccessRequest['required']) {
  if (required === 'never') throw new Problem('token_scope', { detail: 'An access token cannot do this. Log in.' })
  if (scopes.indexOf(scope) < scopes.indexOf(required.scope)) throw new Problem('token_scope')
  if (board_id !== null && !required.board_tokens) throw new Problem('token_board')
}

/** Throws 403 when the token is limited to another board. */
export function requireTokenBoard(token: CallerToken | null, board_id: string) {
  if (token && token.board_id !== null && token.board_id !== board_id) throw new Problem('token_board')
}

/**
 * The same for a change: takes the board lock first and checks access in a later statement. A statement that did both would
 * see the state from before it waited, and let through a member who was removed meanwhile. The same holds for an invitation, which
 * is used up here: if the change fails, it is rolled back.
 */
export async function lockAndCheckAccess(tx: Db, board_id: string, request: AccessRequest): Promise<AccessCheck> {
  const { credential, invitationHash: token_hash } = request
  const [[usage = NO_USAGE], check, [invitation]] = await Promise.all([
    tx.run(lockBoard, { board_id }),
    checkAccess(tx, request),
    token_hash === undefined ? [] : tx.run(useInvitation, { token_hash, board_id, user_id: credential.user_id }),
  ])
  return { ...check, authorize: () => ({ ...authorizeOn(board_id, request, check, invitation?.role), usage }) }
}

/** Rejects an id that was deleted on the board and used again on another one, whose lock is not held. */
function authorizeOn(board_id: string, { access }: AccessRequest, check: AccessCheck, invitedRole?: Role): BoardGrant {
  const grant = check.authorize(invitedRole)
  if (grant.board_id !== board_id) throw new Problem(`${access?.on ?? 'board'}_not_found`)
  return grant
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

/**
 * The authorization decision for every request, and for a socket when it opens. `findRevokedConnections` repeats it in SQL for
 * open sockets: change both.
 */
function authorizeBoard(
  { access, selfId, invitationHash, isChange }: AccessRequest,
  caller: Caller,
  row: AccessRow,
  invitedRole?: Role,
): BoardGrant {
  if (!access) throw new Error('An operation without a board has nothing to authorize')
  const { board_id, epoch, last_seq, at, text_bytes } = row
  const role = row.role ?? invitedRole
  if (board_id === null) throw new Problem(`${access.on}_not_found`)
  requireTokenBoard(caller.token, board_id)
  if (role === undefined) throw new Problem(invitationHash === undefined ? 'not_a_member' : 'link_invalid')
  const isSelf = access.or_self === true && selfId === caller.id
  const isAuthor = access.author !== undefined && row.author_id === caller.id
  if (access.author === 'only' && !isAuthor) throw new Problem('not_the_author')
  if (access.role === 'owner' && role !== 'owner' && !isSelf && !isAuthor) throw new Problem('role_too_low')
  if (isChange && row.is_archived && !access.when_archived) throw new Problem('board_archived')
  const version =
    row.profiles === undefined ? undefined : { position: `${epoch}.${last_seq}`, profiles: row.profiles, text_bytes }
  return { caller, board_id, role, epoch, last_seq, at, text_bytes, ...(version && { version }) }
}

/** What decides whether a user's token is revoked. Times are in seconds. */
export type Revocation = Pick<AccessRow, 'is_active' | 'tokens_valid_from' | 'surviving_token_hash'>

/** How long after a login a user may create and read secrets. */
const RECENT_LOGIN_SECONDS = 3_600
/** Rejects users who did not log in recently, so that a stolen session gives away no secret. Returns the session. */
export function requireRecentLogin(caller: Caller): SessionCredential {
  const session = sessionOf(caller)
  if (caller.now_seconds - session.logged_in_at > RECENT_LOGIN_SECONDS) throw new Problem('login_too_old')
  return session
}

/** The credential of a caller who must have logged in. The contract keeps access tokens out of such operations (`never`). */
export function sessionOf({ credential }: Caller): SessionCredential {
  if (credential.token_id !== undefined) throw new Problem('token_scope')
  return credential
}

/** The validity of an access token was checked by its statement. */
const isRejected = (credential: Credential, user: Revocation) =>
  credential.token_id === undefined ? isRevoked(credential, user) : !user.is_active

/** A password change revokes every session that began before it, except the one that made it. */
export function isRevoked({ issued_at, token_hash }: SessionCredential, user: Revocation) {
  if (!user.is_active) return true
  if (user.tokens_valid_from === null || issued_at >= user.tokens_valid_from) return false
  return token_hash !== user.surviving_token_hash
}

interface AuthorizedConnection {
  board_id: string
  credential: Credential
}
interface ConnectionArguments {
  board_ids: string[]
  user_ids: string[]
  issued_ats: (number | null)[]
  token_hashes: string[]
  token_ids: (string | null)[]
}
const revokedConnections = statement(
  'find_revoked_connections',
  (args: ConnectionArguments) => sql<{ nth: number }>`
    select connection.nth from unnest(${args.board_ids}::uuid[], ${args.user_ids}::uuid[], ${args.issued_ats}::int8[],
        ${args.token_hashes}::text[], ${args.token_ids}::uuid[])
      with ordinality connection (board_id, user_id, issued_at, token_hash, token_id, nth)
    left join users person on person.id = connection.user_id
    left join board_members membership on membership.board_id = connection.board_id and membership.user_id = connection.user_id
    left join access_tokens token on token.id = connection.token_id
    where membership.user_id is null or person.is_active is not true
      or (connection.issued_at < floor(extract(epoch from person.tokens_valid_from))
        and connection.token_hash is distinct from person.surviving_token_hash)
      or (connection.token_id is not null and (token.id is null or token.expires_at <= clock_timestamp()))`,
)
/** Repeats the authorization decision for open sockets. Returns the indexes of those that are no longer authorized. */
export async function findRevokedConnections(db: Db, connections: readonly AuthorizedConnection[]): Promise<number[]> {
  const credentials = connections.map(({ credential }) => credential)
  const rows = await db.run(revokedConnections, {
    board_ids: connections.map((connection) => connection.board_id),
    user_ids: credentials.map(({ user_id }) => user_id),
    issued_ats: credentials.map((each) => (each.token_id === undefined ? each.issued_at : null)),
    token_hashes: credentials.map(({ token_hash }) => token_hash),
    token_ids: credentials.map(({ token_id }) => token_id ?? null),
  })
  return rows.map((row) => row.nth - 1)
}
