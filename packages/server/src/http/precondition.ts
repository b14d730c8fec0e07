import type { Operation, Resource } from '@lockstep/contract/operation'
import type { FastifyRequest } from 'fastify'
import type { ChangeCost } from '../core/change-pacer.ts'
import type { Db } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { isSame } from './etag.ts'

/** A thing as its readers see it, and every ETag that names this state of it. */
export interface ResourceReader {
  json: string
  etags: string[]
}
/** How each kind of thing is read; undefined when it is not there. A member is named by his user. */
export type ResourceReaders = Record<
  Resource | 'member',
  (db: Db, key: { board_id: string; id: string }) => Promise<ResourceReader | undefined>
>

/**
 * What `If-Match` demands of a PATCH or DELETE, to be asked under the board's lock: that the thing is as the client last
 * saw it. It is the one that the path ends with or, where that has no look of its own (a label on a card), the one that it
 * hangs on.
 */
export function ifMatchCheck(
  representations: ResourceReaders,
  { access, method, path }: Operation,
  { headers: { 'if-match': expected } }: FastifyRequest,
  ids: Record<string, string>,
) {
  if (expected === undefined || typeof access === 'string' || (method !== 'PATCH' && method !== 'DELETE'))
    return undefined
  const kind = path.endsWith('/members/{user_id}') ? 'member' : access.on
  const id = (kind === 'member' ? ids['user_id'] : ids[`${kind}_id`]) as string
  return async (db: Db, board_id: string, cost: ChangeCost) => {
    const current = await representations[kind](db, { board_id, id })
    cost.bytes += current?.json.length ?? 0
    // What is not there is the handler's to refuse.
    if (!current || current.etags.some((etag) => isSame(expected, etag))) return
    throw new Problem('precondition_failed', { current: current.json })
  }
}
