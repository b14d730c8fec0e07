import type { Account, AccountExport } from '@lockstep/contract/administration'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { hashOfToken, newLinkToken } from '../security/links.ts'
import { deleteTokens } from '../tokens/token-queries.ts'
import { insertUser, type NewUser, nextTokenSecond } from '../users/user-queries.ts'
import { insertAction, readAccount } from './admin-queries.ts'
import { readExport } from './export-queries.ts'
import { isCreatorAllowed, storeResetLink } from './reset-link-queries.ts'

/** Who acts: a superuser over HTTP, or an operating system account on the command line. */
export type Actor = { actor_id: string } | { operator: string }

export interface TargetAccount {
  id: string
  is_active: boolean
  is_superuser: boolean
  is_erased: boolean
}

const lockUsers = statement(
  'lock_users',
  (args: { ids: string[] }) => sql<TargetAccount>`
    select id, is_active, is_superuser, erased_at is not null as is_erased from users
    where id = any (${args.ids}::uuid[]) order by id for no key update`,
)

interface AccountAction<T> {
  actor: Actor
  action: string
  target_id: string
  /** Whether the action is allowed on the own account, and on an erased account. */
  allows?: { self?: true; erased?: true }
  /** Returns details only if something changed; otherwise nothing is recorded. */
  work: (tx: Db, target: TargetAccount) => Promise<{ result: T; details?: Record<string, unknown> }>
}

/**
 * Runs an action on an account and records it in the audit log, in one transaction. Both users are locked, so that of two
 * superusers who deactivate each other at once, the second is rejected.
 */
export async function administer<T>(database: Database, request: AccountAction<T>): Promise<T> {
  const { actor, action, target_id, allows = {}, work } = request
  const actor_id = 'actor_id' in actor ? actor.actor_id : undefined
  const ids = actor_id === undefined ? [target_id] : [actor_id, target_id]
  return database.transaction(
    (tx) => tx.run(lockUsers, { ids }),
    async (tx, users) => {
      const target = users.find(({ id }) => id === target_id)
      const self = users.find(({ id }) => id === actor_id)
      if (actor_id !== undefined) requireSuperuser(self)
      if (!target) throw new Problem('user_not_found')
      if (target_id === actor_id && !allows.self) throw new Problem('own_account')
      if (target.is_erased && !allows.erased) throw new Problem('user_erased')
      const { result, details } = await work(tx, target)
      if (!details) return { result }
      return { result, close: (end) => record(end, actor, action, target_id, details) }
    },
  )
}

/** Adds an entry to the audit log. Its details contain ids, flags and numbers, never a name. */
export async function record(
  db: Db,
  actor: Actor,
  action: string,
  target_id: string | null,
  details: Record<string, unknown> = {},
) {
  const who = { actor_id: null, operator: null, ...actor }
  await insertAction(db, { ...who, action, target_id, details: JSON.stringify(details) })
}

interface ServiceAction<T> {
  result: T
  target_id?: string
  details?: Record<string, unknown>
}
/** The same for an action that has no account as its target, or creates it. */
export async function administerService<T>(
  database: Database,
  actor: Actor,
  action: string,
  work: (tx: Db) => Promise<ServiceAction<T>>,
): Promise<T> {
  const ids = 'actor_id' in actor ? [actor.actor_id] : []
  return database.transaction(
    (tx) => tx.run(lockUsers, { ids }),
    async (tx, [self]) => {
      if (ids.length > 0) requireSuperuser(self)
      const { result, target_id = null, details } = await work(tx)
      return { result, close: (end) => record(end, actor, action, target_id, details) }
    },
  )
}

function requireSuperuser(actor: TargetAccount | undefined) {
  if (!(actor?.is_superuser && actor.is_active)) throw new Problem('superuser_only')
}

/** Returns the new account. */
export async function createUser(database: Database, actor: Actor, user: NewUser) {
  const action = user.is_superuser ? 'create-superuser' : 'create-user'
  return administerService(database, actor, action, async (tx) => {
    await insertUser(tx, user)
    return { result: (await readAccount(tx, user.id)) as JsonText<Account>, target_id: user.id }
  })
}

type AccountFlags = Partial<Pick<Account, 'is_active' | 'is_superuser'>>
/** `administer` has locked the row before the clock is read. A deactivation ends all sessions, so that none continues after a reactivation. */
const setFlags = statement(
  'set_user_flags',
  (args: { id: string } & Required<AccountFlags>) => sql`
    update users set is_active = ${args.is_active}, is_superuser = ${args.is_superuser},
      surviving_token_hash = case when ${args.is_active}::boolean then surviving_token_hash end,
      tokens_valid_from = case when ${args.is_active}::boolean then tokens_valid_from else ${nextTokenSecond} end
    where id = ${args.id}`,
)
/** Returns the account after the change. */
export async function changeAccount(database: Database, actor: Actor, target_id: string, flags: AccountFlags) {
  return administer(database, {
    actor,
    action: 'change-account',
    target_id,
    work: async (tx, { id, ...before }) => {
      const is_active = flags.is_active ?? before.is_active
      const is_superuser = flags.is_superuser ?? before.is_superuser
      const changed = {
        ...(is_active !== before.is_active && { is_active }),
        ...(is_superuser !== before.is_superuser && { is_superuser }),
      }
      const isSame = Object.keys(changed).length === 0
      if (!isSame) await tx.run(setFlags, { id, is_active, is_superuser })
      return { result: (await readAccount(tx, id)) as JsonText<Account>, ...(!isSame && { details: changed }) }
    },
  })
}

/** `administer` has locked the row before the clock is read. */
const replacePassword = statement(
  'reset_password',
  (args: { id: string; hashed_password: string }) => sql`
    update users set hashed_password = ${args.hashed_password}, surviving_token_hash = null,
      tokens_valid_from = ${nextTokenSecond}
    where id = ${args.id}`,
)
/** Revokes all sessions and access tokens, and lifts the limit on failed logins, which counts by password hash. */
export async function resetPassword(database: Database, actor: Actor, target_id: string, hashed_password: string) {
  await administer(database, {
    actor,
    action: 'reset-password',
    target_id,
    work: async (tx, { id }) => {
      const [revoked_tokens] = await Promise.all([
        deleteTokens(tx, id),
        tx.run(replacePassword, { id, hashed_password }),
      ])
      return { result: undefined, details: revoked_tokens > 0 ? { revoked_tokens } : {} }
    },
  })
}

/** Revokes all access tokens of a user. Returns how many. */
export async function revokeAccountTokens(database: Database, actor: Actor, target_id: string): Promise<number> {
  return administer(database, {
    actor,
    action: 'revoke-tokens',
    target_id,
    allows: { self: true, erased: true },
    work: async (tx, { id }) => {
      const count = await deleteTokens(tx, id)
      return { result: count, ...(count > 0 && { details: { count } }) }
    },
  })
}

/** A new link replaces the user's earlier one. */
export async function createResetLink(database: Database, actor: Actor, target_id: string) {
  return administer(database, {
    actor,
    action: 'create-reset-link',
    target_id,
    work: async (tx, { id }) => {
      const token = newLinkToken()
      const expires_at = await storeResetLink(tx, {
        user_id: id,
        token_hash: hashOfToken(token),
        created_by: 'actor_id' in actor ? actor.actor_id : null,
      })
      return { result: { token, expires_at }, details: {} }
    },
  })
}

const takeResetLink = statement(
  'take_reset_link',
  (args: { user_id: string; token_hash: string }) => sql<{ user_id: string }>`
    delete from password_reset_links link where link.user_id = ${args.user_id} and link.token_hash = ${args.token_hash}
      and link.expires_at > clock_timestamp() and ${isCreatorAllowed}
    returning link.user_id`,
)
/** Uses a reset link up and sets the new password. The user is locked first, so that of two concurrent uses one succeeds. */
export async function resetPasswordByLink(
  database: Database,
  link: { user_id: string; token_hash: string },
  hashed_password: string,
) {
  const { user_id } = link
  await database.transaction(
    (tx) => tx.run(lockUsers, { ids: [user_id] }),
    async (tx, [user]) => {
      if (!user?.is_active || (await tx.run(takeResetLink, link)).length === 0) throw new Problem('link_invalid')
      const [revoked_tokens] = await Promise.all([
        deleteTokens(tx, user_id),
        tx.run(replacePassword, { id: user_id, hashed_password }),
      ])
      const details = revoked_tokens > 0 ? { revoked_tokens } : {}
      return {
        result: undefined,
        close: (end) => record(end, { actor_id: user_id }, 'reset-password-by-link', user_id, details),
      }
    },
  )
}

export async function exportAccount(database: Database, actor: Actor, target_id: string) {
  return administer(database, {
    actor,
    action: 'export',
    target_id,
    allows: { self: true, erased: true },
    work: async (tx, { id }) => ({ result: (await readExport(tx, id)) as JsonText<AccountExport>, details: {} }),
  })
}
