import type { healthOperations } from '@lockstep/contract/health'
import { sql } from 'kysely'
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
  /** Concurrent requests share one check, so that many health checks cost one statement. */
  const isDatabaseUp = () => {
    check ??= checkDatabase(database)
      .then((isUp) => {
        if (!isClosing()) report(isUp ? 'ready' : 'unreachable')
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
      return { status: isDegraded ? 'degraded' : 'ok', database: 'connected', redis, ...writes }
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

const probe = statement('probe', () => sql`select 1`)

/** While all connections are busy the probe waits. Then it is enough that another statement succeeded in the meantime. */
async function checkDatabase(database: Database): Promise<boolean> {
  const startedAt = performance.now()
  return (await succeedsInTime(database.run(probe, {}))) || database.succeededAt > startedAt
}

/** Whether a promise is fulfilled before the timeout. Never rejects. */
async function succeedsInTime(promise: Promise<unknown>): Promise<boolean> {
  const { promise: timeout, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, TIMEOUT_MS, false)
  const outcome = promise.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([outcome, timeout])
  } finally {
    clearTimeout(timer)
  }
}
