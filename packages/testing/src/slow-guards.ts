import { operations } from '@lockstep/contract'
import Fastify from 'fastify'
import { Admission } from '../../server/src/http/admission.ts'
import { installErrorHandler } from '../../server/src/http/error-handler.ts'
import { parseBodiesAsBuffers } from '../../server/src/http/request-body.ts'
import { registerRoutes } from '../../server/src/http/routes.ts'
import { ByteBudget } from '../../server/src/platform/byte-budget.ts'
import { systemClock } from '../../server/src/platform/clock.ts'
import { freePort } from './ports.ts'

export const slowly = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 5, value))

/**
 * Every operation of the contract behind authorization checks that resolve late. A handler only calls `reach`.
 * `accessRow` is the access row of the caller and the board; without it the token is invalid.
 */
export async function serveBehindSlowGuards(accessRow: { user_id: string } | undefined, reach: () => never) {
  const app = Fastify()
  parseBodiesAsBuffers(app)
  installErrorHandler(app)
  /** A dependency whose methods all count as reached. */
  const reaching = (values: Record<string | symbol, unknown> = {}) =>
    new Proxy(values, { get: (_, name) => values[name] ?? reach })
  const uploads = reaching({ maxBytes: 1_000 })
  const db = { run: () => slowly([accessRow]) }
  const core = { database: db, boardQueue: reaching() }
  const limits = { request: () => slowly({}) }
  const tokens = { verify: () => slowly(accessRow && { user_id: accessRow.user_id }) }
  const handlers = Object.fromEntries(Object.keys(operations).map((name) => [name, reach]))
  registerRoutes(
    app,
    {
      core,
      uploads,
      tokens,
      limits,
      isOwnOrigin: () => true,
      clock: systemClock,
      admission: new Admission(1_000, { isFair: false }),
      budget: new ByteBudget(Number.POSITIVE_INFINITY, 0),
    } as never,
    operations,
    handlers as never,
  )
  const baseUrl = await app.listen({ host: '127.0.0.1', port: await freePort() })
  return { baseUrl, close: () => app.close() }
}
