import { dayName } from '../ui/dates.ts'
import type { Actor, DescribedEvent } from './describe-log.ts'
import { t } from './messages.ts'
import type { GroupKind, Sentence, SentencePart } from './sentence.ts'

/** Consecutive events of the same actor, as one line. */
export interface ActivityLineData {
  /** The number of the newest event. It stays the same when older events are added. */
  key: number
  at: string
  actor: Actor
  sentence: Sentence
}
export interface ActivityDay {
  day: string
  lines: ActivityLineData[]
}
const counted: Record<GroupKind, (values: { count: number }) => string> = {
  member: t.severalPeople,
  column: t.severalColumns,
  card: t.severalCards,
  label: t.severalLabels,
  checklist: t.severalChecklists,
  item: t.severalItems,
  attachment: t.severalFiles,
}
interface EventRun extends DescribedEvent {
  objects: SentencePart[]
  count: number
}

/** Lines by day, newest first. The same action of one actor on several objects of a kind becomes one line. */
export function groupEvents(events: readonly DescribedEvent[], now = new Date()): ActivityDay[] {
  const days: { day: string; runs: EventRun[] }[] = []
  for (const each of events.toReversed()) {
    const day = dayName(each.at, now)
    if (days.at(-1)?.day !== day) days.push({ day, runs: [] })
    const { runs } = days.at(-1) as (typeof days)[number]
    const last = runs.at(-1)
    if (!last || !canMerge(last, each)) {
      runs.push({ ...each, objects: [each.sentence.object], count: 1 })
      continue
    }
    last.count++
    if (last.objects.every(({ text }) => text !== each.sentence.object.text)) last.objects.push(each.sentence.object)
  }
  return days.map(({ day, runs }) => ({ day, lines: runs.map(lineOf) }))
}

function canMerge(run: EventRun, { actor, sentence }: DescribedEvent): boolean {
  if (run.actor.id !== actor.id || patternOf(run.sentence) !== patternOf(sentence)) return false
  return sentence.groupedAs !== '' || run.sentence.object.text === sentence.object.text
}

const patternOf = ({ verb, groupedAs, rest }: Sentence) => JSON.stringify([verb, groupedAs, rest])

function lineOf({ seq, at, actor, sentence, objects, count }: EventRun): ActivityLineData {
  const [first] = objects
  const { groupedAs } = sentence
  if (objects.length > 1 && groupedAs !== '') {
    const text = counted[groupedAs]({ count: objects.length })
    return { key: seq, at, actor, sentence: { ...sentence, object: { text } } }
  }
  const rest = count > 1 ? [...sentence.rest, { text: t.times({ count }) }] : sentence.rest
  return { key: seq, at, actor, sentence: { ...sentence, object: first ?? sentence.object, rest } }
}
