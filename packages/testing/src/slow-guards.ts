import { operations } from '@lockstep/contract'
import Fastify from 'fastify'
import { installErrorHandler } from '../../server/src/http/error-handler.ts'
import { parseBodiesAsBuffers } from '../../server/src/http/request-body.ts'
import { registerRoutes } from '../../server/src/http/routes.ts'
import { FairShare } from '../../server/src/platform/fair-share.ts'
import { Semaphore } from '../../server/src/platform/semaphore.ts'
import { freePort } from './ports.ts'

export const slowly = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 5, value))

/**
 * Every operation of the contract behind authorization checks that resolve late. A handler only calls `reach`.
 * `sight` is the access row of the caller and the board; without it the token is invalid.
 */
export async function serveBehindSlowGuards(sight: { user_id: string } | undefined, reach: () => never) {
  const app = Fastify()
  parseBodiesAsBuffers(app)
  installErrorHandler(app)
  const uploads = { maxBytes: 1_000, minBytesPerSecond: 0, store: reach, discard: reach }
  const db = { run: () => slowly([sight]) }
  const core = { database: { ...db, forKey: () => db }, boardQueue: { run: reach } }
  const limits = { request: () => slowly(undefined) }
  const tokens = { verify: () => slowly(sight && { user_id: sight.user_id }) }
  const handlers = Object.fromEntries(Object.keys(operations).map((name) => [name, reach]))
  registerRoutes(
    app,
    {
      core,
      uploads,
      tokens,
      limits,
      isOwnOrigin: () => true,
      bodySeconds: 30,
      unauthenticatedBodies: new FairShare(1_000, 1_000),
      lists: new Semaphore(1_000),
    } as never,
    operations,
    handlers as never,
  )
  const baseUrl = await app.listen({ host: '127.0.0.1', port: await freePort() })
  return { baseUrl, close: () => app.close() }
}
