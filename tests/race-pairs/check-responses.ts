import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { Pair } from './writes.ts'

/** Two writes that met. */
export interface Meeting {
  pair: Pair
  /** Both are one request, under one key. */
  isRepeated: boolean
  /** Both wanted to give their own the same id. */
  isSharedId: boolean
  /** Where the board stood before them. */
  position: number
}
export interface Answered {
  /** The status, and the code of a problem. */
  met: string
  json?: unknown
  /** What `Board-Position` says, and no number when it is missing. */
  position: number
}

const isRefused = ({ met }: Answered) => !met.startsWith('2')
/** Whoever takes something away, or somebody's place, may leave nothing for the other to write on. */
const takesAway = (name: string) => name.startsWith('delete') || name.endsWith('Member')
const isCreate = (name: string) => name.startsWith('create')
/** Writes that always tell of a change of the board they race on when they succeed: their titles are new each time. */
const alwaysTells = (name: string) =>
  /^(?:create|delete|update(?:Board|Column|Card|Label|Checklist)$)/.test(name) &&
  (operations as Record<string, Operation>)[name]?.emits?.length !== 0

/** What two answers must not be, whatever became of the board. */
export function judgeAnswers(meeting: Meeting, answers: readonly [Answered, Answered]): string[] {
  const { pair, isRepeated, isSharedId, position } = meeting
  const [one, two] = answers
  const complaints = answers.filter(({ met }) => met.startsWith('5')).map(({ met }) => `one was answered ${met}`)
  // Everything was there for either of them: whoever came first had no reason to fail.
  if (answers.every(isRefused)) complaints.push(`both were refused, with ${one.met} and ${two.met}`)
  if (isRepeated) {
    const isSame = one.met === two.met && JSON.stringify(one.json) === JSON.stringify(two.json)
    return isSame ? complaints : [...complaints, 'the same request was answered differently']
  }
  const mayTakeId = isSharedId && pair.every(isCreate)
  for (const [i, answer] of answers.entries()) {
    const rival = pair[1 - i] as string
    if (isRefused(answer) && !takesAway(rival) && !mayTakeId)
      complaints.push(`${pair[i]} was refused with ${answer.met}, and nothing was in its way`)
  }
  // A write that was acknowledged and never happened names a position that was there before it, or that is another's.
  const changes = answers.filter((answer, i) => !isRefused(answer) && alwaysTells(pair[i] as string))
  for (const change of changes)
    if (!(change.position > position)) complaints.push(`a change at ${change.position}, where the board stood already`)
  if (changes.length === 2 && one.position === two.position)
    complaints.push(`two changes at one position, ${one.position}`)
  return complaints
}
