import { expect, test } from 'vitest'
import { createClient } from './client.ts'

test('[SYNC-29] a read is never answered from the HTTP cache without revalidation, and an ETag is passed on unchanged', async () => {
  const sent: unknown[] = []
  const client = createClient({
    baseUrl: 'http://service',
    fetch: async (_, { method, cache, headers } = {}) => {
      sent.push([method, cache, new Headers(headers as Record<string, string>).get('if-none-match')])
      return Response.json({})
    },
  })
  await client.getMe()
  await client.request('getMe', {}, { ifNoneMatch: '"etag"' })
  await client.createTicket()
  expect(sent).toEqual([
    ['GET', 'no-cache', null],
    // With a cache mode that uses the cache, the browser could replace the ETag by its own.
    ['GET', 'no-store', '"etag"'],
    ['POST', undefined, null],
  ])
})
