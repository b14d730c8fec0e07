import type { userOperations } from '@lockstep/contract/users'
import { Problem } from '../core/problem.ts'
import type { Handlers } from '../core/serve.ts'
import { findUsers, readUser } from './user-queries.ts'

export const userHandlers: Handlers<typeof userOperations> = {
  async getUser({ db, params }) {
    const user = await readUser(db, params.user_id)
    if (!user) throw new Problem('user_not_found')
    return user
  },

  findUsers: ({ db, query }) => findUsers(db, query.search ?? query.q ?? '', query.limit ?? 50),
}
