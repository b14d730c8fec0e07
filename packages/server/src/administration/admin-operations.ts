import { type Account, administrationOperations } from '@lockstep/contract/administration'
import { v7 as newUuid } from 'uuid'
import type { Passwords } from '../auth/passwords.ts'
import type { SystemServices } from '../core/change-board.ts'
import { releaseSlotWhile } from '../http/admission.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import { linkTo } from '../security/links.ts'
import { listTokens } from '../tokens/token-queries.ts'
import { listAccounts, listActions, readAccount } from './admin-queries.ts'
import {
  changeAccount,
  createResetLink,
  createUser,
  exportAccount,
  resetPassword,
  revokeAccountTokens,
} from './admin-steps.ts'
import { eraseUser } from './erase-steps.ts'
import { readStatistics } from './statistics-queries.ts'

interface AdminDeps {
  core: SystemServices
  passwords: Passwords
  /** Called when a user's access may have changed, to check the user's sockets again. */
  userChanged: (user_id: string) => void
  publicUrl: string
}

export function adminHandlers(deps: AdminDeps): Handlers<typeof administrationOperations> {
  const { core, passwords, userChanged, publicUrl } = deps
  const { database } = core
  return {
    findAccounts: (context) =>
      readPage(administrationOperations.findAccounts, context, (page) =>
        listAccounts(context.db, context.query.search ?? '', page),
      ),

    async createAccount({ caller, body, request }) {
      const { password, firstname = null, lastname = null, ...user } = body
      passwords.requireStrong(password, user)
      const hashed_password = await releaseSlotWhile(request, () => passwords.hash(password))
      const account = { ...user, id: newUuid(), hashed_password, firstname, lastname, is_superuser: false }
      return createUser(database, { actor_id: caller.id }, account)
    },

    async getAccount({ db, params }) {
      const account = await readAccount(db, params.user_id)
      if (!account) throw new Problem('user_not_found')
      return account
    },

    async updateAccount({ caller, params: { user_id }, body }) {
      const account = await changeAccount(database, { actor_id: caller.id }, user_id, body)
      userChanged(user_id)
      return account
    },

    async resetPassword({ db, caller, params: { user_id }, body, request }) {
      const account = await readAccount(db, user_id)
      if (!account) throw new Problem('user_not_found')
      passwords.requireStrong(body.new_password, JSON.parse(account) as Account)
      const hashed_password = await releaseSlotWhile(request, () => passwords.hash(body.new_password))
      await resetPassword(database, { actor_id: caller.id }, user_id, hashed_password)
      userChanged(user_id)
      return { detail: 'Password changed.' }
    },

    async createResetLink({ caller, params }) {
      const { token, expires_at } = await createResetLink(database, { actor_id: caller.id }, params.user_id)
      return { link: linkTo(publicUrl, 'reset', token), expires_at }
    },

    async listAccountTokens(context) {
      const { db, params } = context
      if (!(await readAccount(db, params.user_id))) throw new Problem('user_not_found')
      const { listAccountTokens } = administrationOperations
      return readPage(listAccountTokens, context, (page) => listTokens(db, params.user_id, page))
    },

    async revokeAccountTokens({ caller, params: { user_id } }) {
      await revokeAccountTokens(database, { actor_id: caller.id }, user_id)
      userChanged(user_id)
    },

    exportAccount: ({ caller, params }) => exportAccount(database, { actor_id: caller.id }, params.user_id),

    async eraseAccount({ caller, params: { user_id } }) {
      await eraseUser(core, { actor_id: caller.id }, user_id)
      userChanged(user_id)
    },

    getStatistics: ({ db }) => readStatistics(db),

    listAdminActions: (context) =>
      readPage(administrationOperations.listAdminActions, context, (page) => listActions(context.db, page)),
  }
}
