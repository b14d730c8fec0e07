import { type Api, failureOf, type LiveResponse } from './api.ts'
import { subjectOf } from './model.ts'
import { type ConditionalChange, conflictOf } from './predict.ts'
import type { Item } from './tree.ts'
import type { ExpectedFields } from './types.ts'

/** Maximum attempts when the card keeps changing; after that, the change is retried with backoff. */
const MAX_ATTEMPTS = 5
/** An ETag that never matches: only a stored response for the same idempotency key gets past it. */
const NO_MATCH = '"none"'

const NO_ETAG = 'The response has no ETag'

/**
 * Optimistic concurrency: reads the card, compares the expected fields, and updates with `If-Match`. If the change
 * may have been applied already, first asks for its stored response, so that later changes by others are not a
 * conflict.
 */
export async function sendConditionally(
  request: (name: string, input: Record<string, unknown>, ifMatch?: string) => ReturnType<Api['request']>,
  conditional: ConditionalChange,
  mayBeApplied: boolean,
): Promise<LiveResponse | { current: ExpectedFields }> {
  const { change } = conditional
  let ifMatch = mayBeApplied ? NO_MATCH : undefined
  for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt++) {
    if (ifMatch !== undefined) {
      try {
        return await request(change.name, change.input, ifMatch)
      } catch (error) {
        if (failureOf(error)?.status !== 412) throw error
      }
    }
    const { data, etag } = await request('getCard', { card_id: subjectOf(change).id })
    const current = conflictOf(conditional, data as Item)
    if (current) return { current }
    if (etag === undefined) throw Object.assign(new Error(NO_ETAG), { status: 412, detail: NO_ETAG })
    ifMatch = etag
  }
  throw new Error('The card keeps changing')
}
