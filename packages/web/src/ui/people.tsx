import type { CSSProperties } from 'react'
import { t } from './messages.ts'
import { personColor } from './person-color.ts'

/** The fields of a user that are needed to show their name and avatar. */
export interface Person {
  id: string
  username: string
  firstname?: string | null
  lastname?: string | null
}

export const nameOf = ({ firstname, lastname, username }: Person): string =>
  [firstname, lastname].filter(Boolean).join(' ') || username

const segments = new Intl.Segmenter()
/** The first graphemes of a word. A grapheme may be several characters, but not in ASCII, where no slow segmenter is needed. */
const firstOf = (word: string, count: number) =>
  /^[ -~]*$/.test(word)
    ? word.slice(0, count)
    : [...segments.segment(word)]
        .slice(0, count)
        .map(({ segment }) => segment)
        .join('')

export function initialsOf(person: Person): string {
  const words = nameOf(person)
    .split(/[\s._-]+/)
    .filter(Boolean)
  const [first = '?', last] = words.length > 1 ? [words[0], words.at(-1)] : words
  return (last ? firstOf(first, 1) + firstOf(last, 1) : firstOf(first, 2)).toUpperCase()
}

/** Sets the CSS variable from which labels and avatars take their colour. */
export const tinted = (color: string): CSSProperties => ({ '--c': color }) as CSSProperties

export function Avatar({ person, note }: { person: Person; note?: string }) {
  const name = note ? `${nameOf(person)} (${note})` : nameOf(person)
  return (
    <span
      className="avatar"
      style={tinted(personColor(person.id))}
      title={name}
      role="img"
      aria-label={name}
      data-person-id={person.id}
    >
      {initialsOf(person)}
    </span>
  )
}

/** The first avatars and the number of the others. */
export function Avatars({ people, label, most = 4 }: { people: readonly Person[]; label: string; most?: number }) {
  if (people.length === 0) return null
  const shown = people.length > most ? people.slice(0, most - 1) : people
  const rest = people.length - shown.length
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <span className="avatars" role="group" aria-label={t.people({ label, names: people.map(nameOf).join(', ') })}>
      {shown.map((person) => (
        <Avatar key={person.id} person={person} />
      ))}
      {rest > 0 && (
        <span className="avatar is-rest" aria-hidden="true" title={people.slice(-rest).map(nameOf).join(', ')}>
          +{rest}
        </span>
      )}
    </span>
  )
}
