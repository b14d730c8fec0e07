import type { Account, administrationOperations } from '@lockstep/contract/administration'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Passwords } from '../auth/passwords.ts'
import { releaseSlotWhile } from '../http/edge/admission-middleware.ts'
import type { Handlers } from '../http/handler.ts'
import { pathOf } from '../http/request-path.ts'
import { Problem } from '../platform/problem.ts'
import { listAccounts, listActions, readAccount, readStatistics } from './admin-queries.ts'
import { changeAccount, exportAccount, resetPassword } from './admin-steps.ts'
import { type EraseDeps, eraseUser } from './erase-steps.ts'

interface AdminDeps extends EraseDeps {
  passwords: Passwords
  /** Called when a user's access may have changed, to check the user's sockets again. */
  userChanged: (user_id: string) => void
}

export function adminHandlers(deps: AdminDeps): Handlers<typeof administrationOperations> {
  const { core, passwords, userChanged } = deps
  const { database } = core
  return {
    async findAccounts({ db, query, request, reply }) {
      const { search = '', limit = 50, cursor } = query
      const { json, next } = await listAccounts(db, search, limit, cursor)
      setNextLink(request, reply, next && { ...(search && { search }), limit, cursor: next })
      return json
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

    exportAccount: ({ caller, params }) => exportAccount(database, { actor_id: caller.id }, params.user_id),

    async eraseAccount({ caller, params: { user_id } }) {
      await eraseUser(deps, { actor_id: caller.id }, user_id)
      userChanged(user_id)
    },

    getStatistics: ({ db }) => readStatistics(db),

    async listAdminActions({ db, query, request, reply }) {
      const { limit = 50, cursor } = query
      const { json, next } = await listActions(db, limit, cursor)
      setNextLink(request, reply, next && { limit, cursor: next })
      return json
    },
  }
}

function setNextLink(request: FastifyRequest, reply: FastifyReply, next: Record<string, unknown> | 0 | '' | undefined) {
  if (!next) return
  const search = new URLSearchParams(Object.entries(next).map(([name, value]) => [name, String(value)])).toString()
  reply.header('link', `<${pathOf(request)}?${search}>; rel="next"`)
}
