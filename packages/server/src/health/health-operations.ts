import type { healthOperations } from '@lockstep/contract/health'
import { sql } from 'kysely'
import { type Database, statement } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'

const PATIENCE_MS = 500

interface HealthDeps {
  database: Database
  /** Of the bus: rejects when Redis does not answer; without a bus there is nothing to ask. */
  ping: (() => Promise<void>) | undefined
  /** Whether the instance is about to stop, and wants no more requests. */
  isClosing: () => boolean
}

export function healthHandlers({ database, ping, isClosing }: HealthDeps): Handlers<typeof healthOperations> {
  let question: Promise<boolean> | undefined
  /** All who ask at once ask one question: however many they are, they stand in nobody's way. */
  const isDatabaseThere = () => {
    question ??= askDatabase(database).finally(() => {
      question = undefined
    })
    return question
  }
  return {
    async getHealth() {
      const [isThere, isRedisThere] = await Promise.all([isDatabaseThere(), ping && answersInTime(ping())])
      const redis = isRedisThere === undefined ? 'disabled' : isRedisThere ? 'connected' : 'disconnected'
      if (!isThere) throw new Problem('unavailable', { fields: { status: 'error', database: 'disconnected', redis } })
      const isDegraded = redis === 'disconnected' || database.isFull
      const writes = database.isFull ? ({ writes: 'refused' } as const) : {}
      return { status: isDegraded ? 'degraded' : 'ok', database: 'connected', redis, ...writes }
    },
    async getReadiness() {
      if (isClosing()) throw new Problem('unavailable', { detail: 'This instance is about to stop.' })
      if (!(await isDatabaseThere())) throw new Problem('unavailable')
      return { status: 'ready' }
    },
    async getLiveness() {
      return { status: 'alive' }
    },
  }
}

const probe = statement('probe', () => sql`select 1`)

/** When all connections are busy the question waits; then it is enough that the database answered somebody meanwhile. */
async function askDatabase(database: Database): Promise<boolean> {
  const asked_at = performance.now()
  return (await answersInTime(database.run(probe, {}))) || database.answeredAt > asked_at
}

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
