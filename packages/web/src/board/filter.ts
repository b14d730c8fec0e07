import type { Card } from '@lockstep/client'

/** What is looked for: words, and what words cannot say. */
export interface Filter {
  words: string[]
  labels: string[]
  people: string[]
  is_unassigned: boolean
}

/** `bug label:api @grace is:unassigned`; a name with spaces stands in quotes. */
export function parseFilter(text: string): Filter | undefined {
  const parts = [...text.matchAll(/(?:(label|is):|(@))?(?:"([^"]*)"|(\S+))/gi)]
  const filter: Filter = { words: [], labels: [], people: [], is_unassigned: false }
  for (const [whole, key, at, quoted, plain] of parts) {
    const value = (quoted ?? plain ?? '').toLowerCase()
    if (at) filter.people.push(value)
    else if (key?.toLowerCase() === 'label') filter.labels.push(value)
    else if (key && value === 'unassigned') filter.is_unassigned = true
    else filter.words.push(key ? whole.toLowerCase() : value)
  }
  return parts.length === 0 ? undefined : filter
}

/** Whether a card is shown: every part must fit. `@me` is whoever looks. */
export function isShown(card: Card, { words, labels, people, is_unassigned }: Filter, me_id: string): boolean {
  if (is_unassigned && card.assignees.length > 0) return false
  const isOn = (wanted: string) =>
    card.assignees.some((user) =>
      wanted === 'me' ? user.id === me_id : user.username.toLowerCase().startsWith(wanted),
    )
  if (!people.every(isOn)) return false
  if (!labels.every((wanted) => card.labels.some(({ name }) => name.toLowerCase() === wanted))) return false
  if (words.length === 0) return true
  const text = `${card.title} ${card.description ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** The text of a filter with one part more, or without it. */
export function togglePart(text: string, part: string): string {
  const parts = text.match(/(?:(?:label|is):|@)?(?:"[^"]*"|\S+)/gi) ?? []
  const others = parts.filter((each) => each.toLowerCase() !== part.toLowerCase())
  return (others.length < parts.length ? others : [...others, part]).join(' ')
}

export const hasPart = (text: string, part: string): boolean => togglePart(text, part).length < text.trim().length

/** How a label is written in a filter. */
export const labelPart = (name: string): string => `label:${/\s/.test(name) ? `"${name}"` : name}`
