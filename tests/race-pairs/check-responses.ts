import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { Pair } from './writes.ts'

/** Two concurrent writes. */
export interface Race {
  pair: Pair
  /** Both are the same request with the same idempotency key. */
  isRepeated: boolean
  /** Both create a resource with the same id. */
  isSharedId: boolean
  /** The position of the board before them. */
  position: number
}
export interface RaceResponse {
  /** The status, and the code of a problem. */
  outcome: string
  json?: unknown
  /** The position in `Board-Position`; NaN if it is missing. */
  position: number
}

const isRejected = ({ outcome }: RaceResponse) => !outcome.startsWith('2')
/** Whether a write can cause this rejection of the other one. */
function mayCause(name: string, outcome: string): boolean {
  if (outcome === '409 board_archived') return name === 'archiveBoard'
  if (outcome === '404 removed_not_found') return name.endsWith('Removed')
  // Otherwise it removes the target or the membership of the other write.
  return /^delete|^archive(?:Card|Column)$|Member$/.test(name)
}
const isCreate = (name: string) => name.startsWith('create')
/** Writes that always emit an event when they succeed, because their titles are new each time. */
const alwaysEmits = (name: string) =>
  /^(?:create|delete|archive(?:Card|Column)$|restoreRemoved$|update(?:Board|Column|Card|Label|Checklist|Comment)$)/.test(
    name,
  ) && (operations as Record<string, Operation>)[name]?.emits?.length !== 0

/** Checks the two responses, whatever became of the board. */
export function checkResponses(meeting: Race, responses: readonly [RaceResponse, RaceResponse]): string[] {
  const { pair, isRepeated, isSharedId, position } = meeting
  const [one, two] = responses
  const complaints = responses
    .filter(({ outcome }) => outcome.startsWith('5'))
    .map(({ outcome }) => `one returned ${outcome}`)
  // Both targets existed, so the first write had no reason to fail.
  if (responses.every(isRejected)) complaints.push(`both were rejected, with ${one.outcome} and ${two.outcome}`)
  if (isRepeated) {
    const isSame = one.outcome === two.outcome && JSON.stringify(one.json) === JSON.stringify(two.json)
    return isSame ? complaints : [...complaints, 'the same request got different responses']
  }
  const mayTakeId = isSharedId && pair.every(isCreate)
  for (const [i, response] of responses.entries()) {
    const rival = pair[1 - i] as string
    if (isRejected(response) && !mayCause(rival, response.outcome) && !mayTakeId)
      complaints.push(`${pair[i]} was rejected with ${response.outcome}, and nothing prevented it`)
  }
  // An acknowledged write that did not happen has a position from before it, or that of the other write.
  const changes = responses.filter((response, i) => !isRejected(response) && alwaysEmits(pair[i] as string))
  for (const change of changes)
    if (!(change.position > position))
      complaints.push(`a change at ${change.position}, which is not after the previous one`)
  if (changes.length === 2 && one.position === two.position)
    complaints.push(`two changes at one position, ${one.position}`)
  return complaints
}
