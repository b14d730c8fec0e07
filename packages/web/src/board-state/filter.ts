import type { Card, FullBoard } from '@lockstep/client'
import { type Day, daysBetween } from '@lockstep/client/days'
import { dueStatus, WEEK_AHEAD } from '../ui/due.ts'

/** The values of `due:`. */
export const dueFilters = ['overdue', 'today', 'week', 'none'] as const
export type DueFilter = (typeof dueFilters)[number]
const isDueFilter = (value: string): value is DueFilter => dueFilters.some((each) => each === value)

/** A parsed filter. */
export interface Filter {
  words: string[]
  /** Numbers of cards. */
  numbers: number[]
  due: DueFilter[]
  labels: string[]
  people: string[]
  isUnassigned: boolean
}

/** `bug label:api @grace is:unassigned due:week #12`; names with spaces are quoted. A quoted number is a word. */
export function parseFilter(text: string): Filter | undefined {
  const parts = [...text.matchAll(/(?:(label|is|due):|(@))?(?:"([^"]*)"|(\S+))/gi)]
  const filter: Filter = { words: [], numbers: [], due: [], labels: [], people: [], isUnassigned: false }
  for (const [whole, key, at, quoted, plain] of parts) {
    const value = (quoted ?? plain ?? '').toLowerCase()
    const kind = key?.toLowerCase()
    if (at) filter.people.push(value)
    else if (kind === 'label') filter.labels.push(value)
    else if (kind === 'is' && value === 'unassigned') filter.isUnassigned = true
    else if (kind === 'due' && isDueFilter(value)) filter.due.push(value)
    else if (!kind && /^#[1-9]\d*$/.test(plain ?? '')) filter.numbers.push(Number(value.slice(1)))
    else filter.words.push(key ? whole.toLowerCase() : value)
  }
  return parts.length === 0 ? undefined : filter
}

/** What a filter depends on, besides the card. */
export interface FilterContext {
  meId: string
  /** Whether the card is in a done column. */
  isDone: boolean
  /** The current day of the viewer. */
  today: Day
}

/**
 * Whether a card matches the filter: all words, one of the numbers, one of the labels, one of the due dates, and one of the
 * people. `@me` is the current user; `is:unassigned` counts as a person.
 */
export function isShown(card: Card, filter: Filter, context: FilterContext): boolean {
  const { words, numbers, due, labels, people, isUnassigned } = filter
  const { meId } = context
  const isAssigned = (wanted: string) =>
    card.assignees.some((user) => (wanted === 'me' ? user.id === meId : user.username.toLowerCase().startsWith(wanted)))
  const fitsPeople =
    (people.length === 0 && !isUnassigned) || (isUnassigned && card.assignees.length === 0) || people.some(isAssigned)
  if (!fitsPeople) return false
  if (labels.length > 0 && !card.labels.some(({ name }) => labels.includes(name.toLowerCase()))) return false
  if (numbers.length > 0 && !numbers.includes(card.number)) return false
  if (due.length > 0 && !due.some((each) => isDue(card, each, context))) return false
  if (words.length === 0) return true
  const text = `${card.title} ${card.description ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

function isDue({ due_on }: Card, wanted: DueFilter, { isDone, today }: FilterContext): boolean {
  if (!due_on) return wanted === 'none'
  if (wanted === 'overdue') return dueStatus(due_on, isDone, today) === 'overdue'
  const days = daysBetween(today, due_on)
  return wanted === 'today' ? days === 0 : wanted === 'week' && days >= 0 && days <= WEEK_AHEAD
}

const partPattern = /(?:(?:label|is|due):|@)?(?:"[^"]*"|\S+)/gi

/** Adds a part to a filter, or removes it. */
export function togglePart(text: string, part: string): string {
  const parts = text.match(partPattern) ?? []
  const others = parts.filter((each) => each.toLowerCase() !== part.toLowerCase())
  return (others.length < parts.length ? others : [...others, part]).join(' ')
}

export const hasPart = (text: string, part: string): boolean => togglePart(text, part).length < text.trim().length

/** The filter part for a label. */
export const labelPart = (name: string): string => `label:${/\s/.test(name) ? `"${name}"` : name}`

/** A part of the filter that is shown as a chip. */
export interface FilterChip {
  /** The part as it is written in the filter. */
  part: string
  on: 'me' | 'unassigned' | 'due' | 'label' | 'person'
  /** The id of the label or person, or the value of `due:`. */
  id: string
}

/** Splits a filter into chips and the words in the field. A part that names nothing known stays in the field. */
export function splitFilter(text: string, { labels, members }: Pick<FullBoard, 'labels' | 'members'>) {
  const chips: FilterChip[] = []
  const chipOf = (part: string): FilterChip | undefined => {
    const isPart = (other: string) => other.toLowerCase() === part.toLowerCase()
    if (isPart('@me')) return { part, on: 'me', id: 'me' }
    if (isPart('is:unassigned')) return { part, on: 'unassigned', id: 'unassigned' }
    const due = dueFilters.find((each) => isPart(`due:${each}`))
    if (due) return { part, on: 'due', id: due }
    const label = labels.find(({ name }) => isPart(labelPart(name)))
    if (label) return { part, on: 'label', id: label.id }
    const member = members.find(({ user }) => isPart(`@${user.username}`))
    return member && { part, on: 'person', id: member.user_id }
  }
  const words = text.replace(partPattern, (part) => {
    const chip = chipOf(part)
    if (chip) chips.push(chip)
    return chip ? '' : part
  })
  return { chips, words: words.trimStart() }
}
