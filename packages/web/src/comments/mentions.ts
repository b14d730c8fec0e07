import type { User } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** Text as the field shows it, with `@Ada Lovelace`, and the ids of the people, by the name after the `@`. */
export interface MentionText {
  text: string
  people: ReadonlyMap<string, string>
}

const MAX_NAME = 255
const token = /@\[([^[\]\r\n]{1,255})\]\(user:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)/gi
const special = /[.*+?^${}()|[\]\\]/g

/** The stored text: each name of a chosen person becomes a token with the id. */
export function storedText({ text, people }: MentionText): string {
  if (people.size === 0) return text
  // The longest first: a name may begin with another one.
  const names = [...people.keys()].toSorted((one, other) => other.length - one.length)
  const pattern = new RegExp(`@(${names.map((name) => name.replace(special, String.raw`\$&`)).join('|')})`, 'g')
  return text.replace(pattern, (_, name: string) => `@[${name}](user:${people.get(name)})`)
}

/** The text for the field. If two people have the same name, the second one stays a token. */
export function shownText(stored: string): MentionText {
  const people = new Map<string, string>()
  const text = stored.replace(token, (all, name: string, id: string) => {
    if ((people.get(name) ?? id) !== id) return all
    people.set(name, id)
    return `@${name}`
  })
  return { text, people }
}

/** The name of a member after the `@`, without what would end a token, and unlike that of the other members. */
export function mentionName(user: User, members: readonly User[]): string {
  const isShared = members.some((other) => other.id !== user.id && nameOf(other) === nameOf(user))
  const { username } = user
  const name = isShared ? t.sameName({ name: nameOf(user), username }) : nameOf(user)
  const safe = (of: string) => of.replace(/[[\]\s]+/g, ' ').trim()
  return (safe(name) || username).slice(0, MAX_NAME).toWellFormed()
}

/** The `@` before the cursor and the text after it, if a name may be typed there. */
export function mentionQuery(text: string, cursor: number): { at: number; query: string } | undefined {
  const query = /(?:^|[^\p{L}\p{N}_])@((?:[^@\s][^@\n]{0,40})?)$/u.exec(text.slice(0, cursor))?.[1]
  return query === undefined ? undefined : { at: cursor - query.length - 1, query }
}
