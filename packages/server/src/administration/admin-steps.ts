import type { Account, AccountExport } from '@lockstep/contract/administration'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { insertUser, nextTokenSecond } from '../users/user-queries.ts'
import { insertAction, readAccount } from './admin-queries.ts'
import { readExport } from './export-queries.ts'

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
      if (actor_id !== undefined && !(self?.is_superuser && self.is_active)) throw new Problem('superuser_only')
      if (!target) throw new Problem('user_not_found')
      if (target_id === actor_id && !allows.self) throw new Problem('own_account')
      if (target.is_erased && !allows.erased) throw new Problem('user_erased')
      const { result, details } = await work(tx, target)
      if (!details) return { result }
      return { result, close: (end) => record(end, actor, action, target_id, details) }
    },
    { key: actor_id ?? '' },
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

interface NewSuperuser {
  id: string
  email: string
  username: string
  hashed_password: string
}
export async function createSuperuser(database: Database, actor: Actor, user: NewSuperuser) {
  await database.transaction(
    async () => {},
    async (tx) => {
      await insertUser(tx, { ...user, firstname: null, lastname: null, is_superuser: true })
      return { result: undefined, close: (end) => record(end, actor, 'create-superuser', user.id) }
    },
  )
}

type AccountFlags = Partial<Pick<Account, 'is_active' | 'is_superuser'>>
const setFlags = statement('set_user_flags', (args: { id: string } & Required<AccountFlags>, query) =>
  query
    .updateTable('users')
    .set({ is_active: args.is_active, is_superuser: args.is_superuser })
    .where('id', '=', args.id),
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
/** Revokes all tokens, and lifts the limit on failed logins, which counts by password hash. */
export async function resetPassword(database: Database, actor: Actor, target_id: string, hashed_password: string) {
  await administer(database, {
    actor,
    action: 'reset-password',
    target_id,
    work: async (tx, { id }) => {
      await tx.run(replacePassword, { id, hashed_password })
      return { result: undefined, details: {} }
    },
  })
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
