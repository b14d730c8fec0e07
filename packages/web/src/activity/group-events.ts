import { dayOf } from '../ui/moment.ts'
import type { Actor, Told } from './event-sentence.ts'
import type { Sentence, Words } from './sentence.ts'

/** What one did in a row, as one line. */
export interface Line {
  /** The number of its newest event: it stays the same while older ones join. */
  key: number
  at: string
  actor: Actor
  sentence: Sentence
}
export interface Day {
  day: string
  lines: Line[]
}
interface Run extends Told {
  objects: Words[]
  count: number
}

/** The newest first, by day; what the same actor did to several things of a kind in the same way is one line. */
export function groupEvents(told: readonly Told[], now = new Date()): Day[] {
  const days: { day: string; runs: Run[] }[] = []
  for (const each of told.toReversed()) {
    const day = dayOf(each.at, now)
    if (days.at(-1)?.day !== day) days.push({ day, runs: [] })
    const { runs } = days.at(-1) as (typeof days)[number]
    const last = runs.at(-1)
    if (!last || !isAlike(last, each)) {
      runs.push({ ...each, objects: [each.sentence.object], count: 1 })
      continue
    }
    last.count++
    if (last.objects.every(({ text }) => text !== each.sentence.object.text)) last.objects.push(each.sentence.object)
  }
  return days.map(({ day, runs }) => ({ day, lines: runs.map(lineOf) }))
}

function isAlike(run: Run, { actor, sentence }: Told): boolean {
  if (run.actor.id !== actor.id || wayOf(run.sentence) !== wayOf(sentence)) return false
  return sentence.noun !== '' || run.sentence.object.text === sentence.object.text
}

const wayOf = ({ verb, noun, rest }: Sentence) => JSON.stringify([verb, noun, rest])

function lineOf({ seq, at, actor, sentence, objects, count }: Run): Line {
  const [first] = objects
  const several: Sentence = { ...sentence, object: { text: `${objects.length} ${sentence.noun}` } }
  if (objects.length > 1) return { key: seq, at, actor, sentence: several }
  const again = count > 1 ? [...sentence.rest, { text: `${count} times` }] : sentence.rest
  return { key: seq, at, actor, sentence: { ...sentence, object: first ?? sentence.object, rest: again } }
}
