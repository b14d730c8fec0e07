import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireShare } from '../platform/fair-share.ts'
import { claimantOf } from './request-context.ts'
import type { RouteDeps } from './route.ts'

/** Smaller responses are bounded by the number of open requests. */
const LARGE_RESPONSE_BYTES = 65_536

/**
 * Counts a large response against its user until the client has read it, because it stays in memory that long. Returns how
 * to release it earlier; undefined when the user has no share left.
 */
export function reserveMemory(
  { shares }: RouteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: number,
): (() => void) | undefined {
  if (!shares || bytes < LARGE_RESPONSE_BYTES) return () => {}
  const release = shares.responseBytes.claim(...claimantOf(request), bytes)
  // The connection may be closed already: then no `close` event follows.
  if (!release || reply.raw.destroyed) {
    release?.()
    return release
  }
  reply.raw.once('close', release)
  return () => {
    reply.raw.off('close', release)
    release()
  }
}

/** The same, rejecting with 503 when the user has no share left. */
export const requireMemory = (deps: RouteDeps, request: FastifyRequest, reply: FastifyReply, bytes: number) =>
  requireShare(reserveMemory(deps, request, reply, bytes))
