import type { JsonText, Scope } from '@lockstep/contract/operation'
import type { AccessToken, NewAccessToken } from '@lockstep/contract/tokens'
import { v7 as newUuid } from 'uuid'
import { type Actor, record } from '../administration/admin-steps.ts'
import { type Caller, isRevoked, requireRecentLogin } from '../core/authorize.ts'
import type { Database, Db } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { hashAccessToken, newAccessToken } from '../security/access-tokens.ts'
import { changePassword, type PasswordChange } from '../users/user-queries.ts'
import { type DeletedToken, deleteTokens, insertToken, lockCreator, readLimits } from './token-queries.ts'

const MAX_TOKENS = 50
const MAX_BOARD_TOKENS = 200

interface TokenRequest {
  name: string
  scope: Scope
  board_id: string | null
  /** 0: never expires. */
  days: number
}

/** Creates an access token for the caller. The result is the only place where the token itself appears. */
export async function createToken(database: Database, caller: Caller, request: TokenRequest): Promise<NewAccessToken> {
  const session = requireRecentLogin(caller)
  const token = newAccessToken(request.board_id === null ? 'personal' : 'board')
  const row = { ...request, id: newUuid(), user_id: caller.id, hash: hashAccessToken(token), hint: token.slice(-4) }
  const { id, user_id, scope, board_id } = row
  const json = await database.transaction<Awaited<ReturnType<typeof lockCreator>>, JsonText<AccessToken>>(
    (tx) => lockCreator(tx, user_id),
    async (tx, user) => {
      if (!user || isRevoked(session, user)) throw new Problem('not_authenticated')
      await requireAllowed(tx, row)
      const result = await insertToken(tx, row)
      const details = { token_id: id, scope, board_id }
      return { result, close: (end) => record(end, { actor_id: user_id }, 'create-token', user_id, details) }
    },
  )
  return { ...(JSON.parse(json) as AccessToken), token }
}

async function requireAllowed(tx: Db, { user_id, scope, board_id }: TokenRequest & { user_id: string }) {
  const { tokens, board_tokens, has_board, role } = await readLimits(tx, user_id, board_id)
  if (board_id !== null) {
    if (!has_board) throw new Problem('board_not_found')
    if (role === null) throw new Problem('not_a_member')
    if (scope === 'admin' && role !== 'owner') throw new Problem('role_too_low')
    if (board_tokens >= MAX_BOARD_TOKENS)
      throw new Problem('too_many_tokens', {
        detail: `The board has ${MAX_BOARD_TOKENS} access tokens. Revoke one first.`,
      })
  }
  if (tokens >= MAX_TOKENS) throw new Problem('too_many_tokens')
}

/** Revokes one token and records it in the audit log. Returns the id of its user. */
export function revokeToken(
  database: Database,
  actor_id: string,
  remove: (tx: Db) => Promise<DeletedToken | undefined>,
): Promise<string> {
  return database.transaction(remove, async (_, token) => {
    if (!token) throw new Problem('token_not_found')
    const { id, user_id, scope, board_id } = token
    const details = { token_id: id, scope, board_id }
    return { result: user_id, close: (end) => record(end, { actor_id }, 'revoke-token', user_id, details) }
  })
}

/** Deletes all tokens of a user, and records it if there were any. */
async function revokeAll(tx: Db, actor: Actor, user_id: string) {
  const count = await deleteTokens(tx, user_id)
  if (count > 0) await record(tx, actor, 'revoke-tokens', user_id, { count })
}

export const revokeTokens = (database: Database, user_id: string): Promise<void> =>
  database.transaction(
    async () => {},
    async (tx) => ({ result: await revokeAll(tx, { actor_id: user_id }, user_id) }),
  )

/**
 * Changes the password and revokes all access tokens, in one transaction. The tokens are deleted by a later statement than the
 * one that locks the user, so that it sees a token that was created meanwhile. False when the password was changed already.
 */
export const changePasswordAndRevokeTokens = (database: Database, change: PasswordChange): Promise<boolean> =>
  database.transaction(
    (tx) => changePassword(tx, change),
    async (tx, isChanged) => {
      if (isChanged) await revokeAll(tx, { actor_id: change.id }, change.id)
      return { result: isChanged }
    },
  )
