import type { Operation } from '@lockstep/contract/operation'
import type { Resource } from '@lockstep/contract/resources'
import type { FastifyRequest } from 'fastify'
import type { ChangeCost } from '../core/event-log.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { isSame } from './etag.ts'

/** The current state of a resource, and every ETag that stands for it. */
export interface ResourceState {
  json: string
  etags: string[]
}
/** Reads a resource of each kind; undefined when it does not exist. The id of a member is that of the user. */
export type ResourceReaders = Record<
  Resource | 'member',
  (db: Db, key: ResourceKey) => Promise<ResourceState | undefined>
>

/**
 * The `If-Match` check of a PATCH or DELETE, to be called under the board lock. It compares the resource at the end of the path
 * or, where that is a relation without an ETag (a label on a card), the resource that it belongs to.
 */
export function ifMatchCheck(
  resourceReaders: ResourceReaders,
  { access, method, path }: Operation,
  { headers: { 'if-match': expected } }: FastifyRequest,
  ids: Record<string, string>,
) {
  if (expected === undefined || typeof access === 'string' || (method !== 'PATCH' && method !== 'DELETE'))
    return undefined
  const kind = path.endsWith('/members/{user_id}') ? 'member' : access.on
  const id = (kind === 'member' ? ids['user_id'] : ids[`${kind}_id`]) as string
  return async (db: Db, board_id: string, cost: ChangeCost) => {
    const current = await resourceReaders[kind](db, { board_id, id })
    cost.bytes += current?.json.length ?? 0
    // The handler rejects a resource that does not exist.
    if (!current || current.etags.some((etag) => isSame(expected, etag))) return
    throw new Problem('precondition_failed', { current: current.json })
  }
}
