import type { healthOperations } from '@lockstep/contract/health'
import { sql } from 'kysely'
import { type Database, statement } from '../core/database.ts'
import { Problem } from '../core/problem.ts'
import type { Handlers } from '../core/serve.ts'

const PATIENCE_MS = 500

interface HealthDeps {
  database: Database
  /** Of the bus: rejects when Redis does not answer; without a bus there is nothing to ask. */
  ping: (() => Promise<void>) | undefined
  /** Whether the instance is about to stop, and wants no more requests. */
  isLeaving: () => boolean
}

export function healthHandlers({ database, ping, isLeaving }: HealthDeps): Handlers<typeof healthOperations> {
  return {
    async getHealth() {
      const [isDatabaseThere, isRedisThere] = await Promise.all([
        answersInTime(database.run(probe, {})),
        ping && answersInTime(ping()),
      ])
      const redis = isRedisThere === undefined ? 'disabled' : isRedisThere ? 'connected' : 'disconnected'
      if (!isDatabaseThere)
        throw new Problem('unavailable', { fields: { status: 'error', database: 'disconnected', redis } })
      return { status: redis === 'disconnected' ? 'degraded' : 'ok', database: 'connected', redis }
    },
    async getReadiness() {
      if (isLeaving()) throw new Problem('unavailable', { detail: 'This instance is about to stop.' })
      if (!(await answersInTime(database.run(probe, {})))) throw new Problem('unavailable')
      return { status: 'ready' }
    },
    async getLiveness() {
      return { status: 'alive' }
    },
  }
}

const probe = statement('probe', () => sql`select 1`)

/** Whatever hangs, the answer comes within a second. */
async function answersInTime(question: Promise<unknown>): Promise<boolean> {
  const { promise: silence, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, PATIENCE_MS, false)
  const answer = question.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
