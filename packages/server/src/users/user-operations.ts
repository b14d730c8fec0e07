import type { userOperations } from '@lockstep/contract/users'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { type Directory, findUsers, readUser } from './user-queries.ts'

export const userHandlers = (limits: RateLimits, directory: Directory): Handlers<typeof userOperations> => ({
  async getUser({ db, params }) {
    const user = await readUser(db, params.user_id)
    if (!user) throw new Problem('user_not_found')
    return user
  },

  async findUsers({ db, caller, query }) {
    const excess = await limits.search(caller.id)
    if (excess) throw excess
    const { search, q, names, limit = 50 } = query
    const term = search ?? q ?? query.query ?? ''
    return findUsers(db, { ...directory, callerId: caller.id, term, withNames: names === 'true', limit })
  },
})
