import type { Card } from '@lockstep/client'

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

/** Whether a card matches all parts of the filter. `@me` is the current user. */
export function isShown(card: Card, { words, labels, people, isUnassigned }: Filter, meId: string): boolean {
  if (isUnassigned && card.assignees.length > 0) return false
  const isOn = (wanted: string) =>
    card.assignees.some((user) => (wanted === 'me' ? user.id === meId : user.username.toLowerCase().startsWith(wanted)))
  if (!people.every(isOn)) return false
  if (!labels.every((wanted) => card.labels.some(({ name }) => name.toLowerCase() === wanted))) return false
  if (words.length === 0) return true
  const text = `${card.title} ${card.description ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Adds a part to a filter, or removes it. */
export function togglePart(text: string, part: string): string {
  const parts = text.match(/(?:(?:label|is):|@)?(?:"[^"]*"|\S+)/gi) ?? []
  const others = parts.filter((each) => each.toLowerCase() !== part.toLowerCase())
  return (others.length < parts.length ? others : [...others, part]).join(' ')
}

export const hasPart = (text: string, part: string): boolean => togglePart(text, part).length < text.trim().length

/** The filter part for a label. */
export const labelPart = (name: string): string => `label:${/\s/.test(name) ? `"${name}"` : name}`
