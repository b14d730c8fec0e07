import { type Api, type ApiAnswer, failureOf } from './api.ts'
import { conflictOf, type Guarded, subjectOf } from './predict.ts'
import type { Item } from './tree.ts'
import type { Guard } from './types.ts'

/** Others may be quicker again and again: after so many times it waits its turn. */
const MAX_ROUNDS = 5
/** An ETag that nothing has: only the kept answer of an earlier request gets past it. */
const NOTHING = '"nothing"'

const NO_ETAG = 'The answer names no ETag: nothing can be changed on condition.'

/**
 * Changes a thing only as long as it is what the user saw: reads it, compares, and changes it on condition that nothing
 * came between. When it may have happened already, it asks for that first: what others did after it is no conflict.
 */
export async function sendGuarded(
  request: (name: string, input: Record<string, unknown>, if_match?: string) => ReturnType<Api['request']>,
  guarded: Guarded,
  mayHaveHappened: boolean,
): Promise<ApiAnswer | { current: Guard }> {
  const { change } = guarded
  let if_match = mayHaveHappened ? NOTHING : undefined
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    if (if_match !== undefined) {
      try {
        return await request(change.name, change.input, if_match)
      } catch (error) {
        if (failureOf(error)?.status !== 412) throw error
      }
    }
    const { data, etag } = await request('getCard', { card_id: subjectOf(change).id })
    const current = conflictOf(guarded, data as Item)
    if (current) return { current }
    if (etag === undefined) throw Object.assign(new Error(NO_ETAG), { status: 412, detail: NO_ETAG })
    if_match = etag
  }
  throw new Error('Others were quicker each time')
}
