import type { JsonText, Operation } from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { keysetOf, type ListedRow, type Page } from '../database/keyset.ts'
import { setNextLink } from './next-link.ts'

interface PagedContext {
  query: { cursor?: string; limit?: number }
  request: FastifyRequest
  reply: FastifyReply
}

/** Reads a page of a list, or the whole list if its operation allows that, and sets `Link` to the next page. */
export async function readPage<T>(
  operation: Operation,
  { query, request, reply }: PagedContext,
  read: (page: Page) => Promise<ListedRow<T>[]>,
): Promise<JsonText<T[]>> {
  const limit = limitOf(operation, query)
  // One more than requested, to know whether there is a next page.
  const found = await read({ ...keysetOf(query.cursor ?? null), limit: limit === null ? null : limit + 1 })
  const rows = found.slice(0, limit ?? undefined)
  const last = rows.at(-1)
  if (last && rows.length < (last.total ?? found.length))
    setNextLink(request, reply, nextQuery(operation, query, { limit, cursor: last.cursor }))
  return `[${rows.map(({ json }) => json).join(',')}]` as JsonText<T[]>
}

/** The size of a page; null for the whole list. */
export function limitOf({ query: schema }: Operation, { limit, cursor }: PagedContext['query']): number | null {
  const bounds = schema?.properties['limit'] as { default?: number; maximum: number }
  return limit ?? bounds.default ?? (cursor === undefined ? null : bounds.maximum)
}

/** The same filters with the next cursor, which replaces deprecated parameters. */
function nextQuery({ deprecated = {} }: Operation, query: object, page: object) {
  const filters = Object.entries(query).filter(([name]) => !(name in deprecated))
  return { ...Object.fromEntries(filters), ...page }
}
