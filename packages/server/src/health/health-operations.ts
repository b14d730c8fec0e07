import type { healthOperations } from '@lockstep/contract/health'
import { sql } from 'kysely'
import { PLANNER_SETTINGS } from '../database/connection.ts'
import { type Database, statement } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import type { Log } from '../telemetry/log.ts'

const TIMEOUT_MS = 500

interface HealthDeps {
  database: Database
  /** Rejects when Redis does not respond; undefined without Redis. */
  ping: (() => Promise<void>) | undefined
  /** Whether the instance is shutting down. */
  isClosing: () => boolean
  log: Log
}

type Readiness = 'ready' | 'unreachable' | 'closing'

export function healthHandlers({ database, ping, isClosing, log }: HealthDeps): Handlers<typeof healthOperations> {
  let check: Promise<boolean> | undefined
  let isPlannerSet = true
  /** Concurrent requests share one check, so that many health checks cost one statement. */
  const isDatabaseUp = () => {
    check ??= checkDatabase(database)
      .then(({ isUp, rows }) => {
        if (!isClosing()) report(isUp ? 'ready' : 'unreachable')
        isPlannerSet = rows?.[0]?.is_planner_set ?? isPlannerSet
        return isUp
      })
      .finally(() => {
        check = undefined
      })
    return check
  }
  let reported: Readiness = 'ready'
  /** Logs each change once, because probes are frequent. */
  const report = (readiness: Readiness) => {
    if (readiness === reported) return
    reported = readiness
    if (readiness === 'closing') log.info({}, 'not ready: the instance is shutting down')
    else if (readiness === 'unreachable') log.warn({}, 'not ready: PostgreSQL does not respond')
    else log.info({}, 'ready again')
  }
  return {
    async getHealth() {
      const [isUp, isRedisUp] = await Promise.all([isDatabaseUp(), ping && succeedsInTime(ping())])
      const redis = isRedisUp === undefined ? 'disabled' : isRedisUp ? 'connected' : 'disconnected'
      if (!isUp) throw new Problem('unavailable', { fields: { status: 'error', database: 'disconnected', redis } })
      const isDegraded = redis === 'disconnected' || database.isFull
      const writes = database.isFull ? ({ writes: 'refused' } as const) : {}
      const planner = isPlannerSet ? {} : ({ planner: 'slow' } as const)
      return { status: isDegraded ? 'degraded' : 'ok', database: 'connected', redis, ...writes, ...planner }
    },
    async getReadiness() {
      if (isClosing()) {
        report('closing')
        throw new Problem('unavailable', { detail: 'This instance is shutting down.' })
      }
      if (!(await isDatabaseUp())) throw new Problem('unavailable')
      return { status: 'ready' }
    },
    async getLiveness() {
      return { status: 'alive' }
    },
  }
}

const isSet = sql.join(
  Object.entries(PLANNER_SETTINGS).map(([name, value]) => sql`current_setting(${sql.lit(name)}) = ${sql.lit(value)}`),
  sql` and `,
)
const probe = statement('probe', () => sql<{ is_planner_set: boolean }>`select ${isSet} as is_planner_set`)

/** While all connections are busy the probe waits. Then it is enough that another statement succeeded in the meantime. */
async function checkDatabase(database: Database) {
  const startedAt = performance.now()
  const rows = await resultInTime(database.run(probe, {}))
  return { isUp: rows !== undefined || database.succeededAt > startedAt, rows }
}

/** Whether a promise is fulfilled before the timeout. Never rejects. */
const succeedsInTime = async (promise: Promise<unknown>) => (await resultInTime(promise.then(() => true))) === true

/** The value of a promise, or undefined if it is rejected or not fulfilled before the timeout. */
async function resultInTime<T>(promise: Promise<T>): Promise<T | undefined> {
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, TIMEOUT_MS, undefined)
  try {
    return await Promise.race([promise.catch(() => undefined), timeout])
  } finally {
    clearTimeout(timer)
  }
}
