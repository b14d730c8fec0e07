import type { Card, FullBoard } from '@lockstep/client'

/** A parsed filter. */
export interface Filter {
  words: string[]
  labels: string[]
  people: string[]
  isUnassigned: boolean
}

/** `bug label:api @grace is:unassigned`; names with spaces are quoted. */
export function parseFilter(text: string): Filter | undefined {
  const parts = [...text.matchAll(/(?:(label|is):|(@))?(?:"([^"]*)"|(\S+))/gi)]
  const filter: Filter = { words: [], labels: [], people: [], isUnassigned: false }
  for (const [whole, key, at, quoted, plain] of parts) {
    const value = (quoted ?? plain ?? '').toLowerCase()
    if (at) filter.people.push(value)
    else if (key?.toLowerCase() === 'label') filter.labels.push(value)
    else if (key && value === 'unassigned') filter.isUnassigned = true
    else filter.words.push(key ? whole.toLowerCase() : value)
  }
  return parts.length === 0 ? undefined : filter
}

/**
 * Whether a card matches the filter: all words, one of the labels, and one of the people. `@me` is the current user;
 * `is:unassigned` counts as a person.
 */
export function isShown(card: Card, { words, labels, people, isUnassigned }: Filter, meId: string): boolean {
  const isAssigned = (wanted: string) =>
    card.assignees.some((user) => (wanted === 'me' ? user.id === meId : user.username.toLowerCase().startsWith(wanted)))
  const fitsPeople =
    (people.length === 0 && !isUnassigned) || (isUnassigned && card.assignees.length === 0) || people.some(isAssigned)
  if (!fitsPeople) return false
  if (labels.length > 0 && !card.labels.some(({ name }) => labels.includes(name.toLowerCase()))) return false
  if (words.length === 0) return true
  const text = `${card.title} ${card.description ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

const partPattern = /(?:(?:label|is):|@)?(?:"[^"]*"|\S+)/gi

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
  on: 'me' | 'unassigned' | 'label' | 'person'
  /** The id of the label or person. */
  id: string
}

/** Splits a filter into chips and the words in the field. A part that names no label or person stays in the field. */
export function splitFilter(text: string, { labels, members }: Pick<FullBoard, 'labels' | 'members'>) {
  const chips: FilterChip[] = []
  const chipOf = (part: string): FilterChip | undefined => {
    const isPart = (other: string) => other.toLowerCase() === part.toLowerCase()
    if (isPart('@me')) return { part, on: 'me', id: 'me' }
    if (isPart('is:unassigned')) return { part, on: 'unassigned', id: 'unassigned' }
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
