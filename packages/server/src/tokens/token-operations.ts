import { DEFAULT_TOKEN_DAYS, tokenOperations } from '@lockstep/contract/tokens'
import type { Database } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { deleteBoardToken, deleteToken, listBoardTokens, listTokens } from './token-queries.ts'
import { createToken, revokeToken, revokeTokens } from './token-steps.ts'

interface TokenDeps {
  database: Database
  limits: RateLimits
  /** The longest lifetime of a new token; 0: no limit. */
  maxAgeDays: number
  /** Called when tokens of a user were revoked, to check the user's sockets again. */
  userChanged: (user_id: string) => void
}

export function tokenHandlers({
  database,
  limits,
  maxAgeDays,
  userChanged,
}: TokenDeps): Handlers<typeof tokenOperations> {
  return {
    async createToken({ caller, body: { name, scope, board_id = null, expires_in_days } }) {
      const excess = await limits.newToken(caller.id)
      if (excess) throw excess
      return createToken(database, caller, { name, scope, board_id, days: lifetimeOf(expires_in_days, maxAgeDays) })
    },

    listTokens: (context) =>
      readPage(tokenOperations.listTokens, context, (page) => listTokens(context.db, context.caller.id, page)),

    async revokeToken({ caller, params: { token_id } }) {
      await revokeToken(database, caller.id, (tx) => deleteToken(tx, { id: token_id, user_id: caller.id }))
      userChanged(caller.id)
    },

    async revokeTokens({ caller }) {
      await revokeTokens(database, caller.id)
      userChanged(caller.id)
    },

    listBoardTokens: (context) =>
      readPage(tokenOperations.listBoardTokens, context, (page) => listBoardTokens(context.db, context.board_id, page)),

    async revokeBoardToken({ caller, board_id, params: { token_id } }) {
      const key = { id: token_id, board_id, owner_id: caller.id }
      userChanged(await revokeToken(database, caller.id, (tx) => deleteBoardToken(tx, key)))
    },
  }
}

/** The lifetime in days; 0: never expires. */
function lifetimeOf(days: number | undefined, maxAgeDays: number): number {
  if (maxAgeDays === 0) return days ?? DEFAULT_TOKEN_DAYS
  if (days === undefined) return Math.min(DEFAULT_TOKEN_DAYS, maxAgeDays)
  if (days >= 1 && days <= maxAgeDays) return days
  const detail = `The lifetime of an access token is 1 to ${maxAgeDays} days.`
  throw new Problem('token_lifetime_limit', { detail })
}
