import type { User } from '@lockstep/client'
import type { EventMessage } from '@lockstep/client/describe'
import { nameOf } from '../ui/people.tsx'
import type { NameLookup } from './name-lookup.ts'
import type { Sentence, SentencePart } from './sentence.ts'

const quoted = (text: string) => `“${text}”`
/** The nouns of the resources, singular. */
const nouns: Record<EventMessage['on'], string> = {
  board: 'board',
  member: 'person',
  column: 'column',
  card: 'card',
  label: 'label',
  checklist: 'checklist',
  item: 'item',
  attachment: 'file',
}

/** Puts an event into words, without its actor. */
export function sentenceOf(message: EventMessage, names: NameLookup, actor_id: string | null): Sentence {
  const { key, on, id, name, card_id, people = [], linked } = message
  const card = (of: string, title: string): SentencePart =>
    names.exists(of) ? { text: quoted(title), card_id: of } : { text: quoted(title) }
  /** The card that it belongs to. */
  const at = (preposition = 'on'): SentencePart[] => {
    const title = names.cardTitle(card_id)
    return card_id === undefined || title === undefined ? [] : [{ text: preposition }, card(card_id, title)]
  }
  const noun = nouns[on]
  const plural = on === 'member' ? 'people' : `${noun}s`
  const object = objectOf(message, card(id, name))
  const sentence = (verb: string, rest: SentencePart[] = [], groupedAs = plural): Sentence => ({
    verb,
    object,
    rest,
    noun: on === 'board' ? '' : groupedAs,
  })
  const text = (words: string) => [{ text: words }]
  const column = names.column(message.column_id ?? '')
  const who = people.length > 0 ? whoOf(people, actor_id) : 'someone'
  switch (key) {
    case 'created':
      if (on === 'member') return sentence('invited')
      if (on === 'card') return sentence('added', text(`to ${column}`))
      if (on === 'attachment') return { ...sentence('attached', at('to')), object: { text: quoted(name) } }
      return sentence('added', at(on === 'item' ? 'to' : 'on'))
    case 'deleted': {
      if (on === 'member') return sentence('removed', text('from the board'))
      if (on === 'card') return sentence('deleted', text(`from ${column}`))
      const count = message.cardCount ?? 0
      if (count > 0) return sentence('deleted', text(`with ${count === 1 ? 'its card' : `its ${count} cards`}`))
      return sentence('deleted', at(on === 'checklist' ? 'on' : 'from'))
    }
    case 'changed':
      return sentence('changed', at())
    case 'renamed':
      return sentence('renamed', text(`to ${quoted(message.newName ?? '')}`), '')
    case 'description_changed':
      return { ...sentence('changed'), object: { text: 'the description of the board' } }
    case 'role_changed':
      return { ...sentence('made', text(message.role === 'owner' ? 'an owner' : 'a member')), object: { text: who } }
    case 'checked':
    case 'unchecked':
      return { ...sentence(key === 'checked' ? 'checked off' : key, at()), object: { text: quoted(name) } }
    case 'moved':
      return sentence('moved', on === 'card' ? text(`within ${column}`) : at())
    case 'moved_to_other_list':
      return sentence('moved', text(`to ${column}`))
    case 'placed':
      return sentence('placed', text(`in ${column}`))
    case 'rebalanced':
      return sentence('adjusted the position of')
    case 'assigned':
    case 'unassigned': {
      const target = on === 'card' ? object : { text: quoted(name) }
      const rest = [{ text: key === 'assigned' ? 'to' : 'from' }, target, ...at()]
      return { ...sentence(key, rest, people.length === 1 && on === 'card' ? 'people' : ''), object: { text: who } }
    }
    case 'linked':
    case 'unlinked': {
      const kind = nouns[linked?.on ?? 'label']
      const [verb, preposition] = key === 'linked' ? ['added', 'to'] : ['removed', 'from']
      const other = linked?.name === undefined ? `a ${kind}` : `the ${kind} ${quoted(linked.name)}`
      return { ...sentence(verb, [{ text: preposition }, object], `${kind}s`), object: { text: other } }
    }
    case 'left':
      return { ...sentence('left', [], ''), object: { text: 'the board' } }
    case 'unknown':
      return { ...sentence('made a change'), object: { text: `(${name})` } }
  }
}

function objectOf({ on, name, people = [] }: EventMessage, card: SentencePart): SentencePart {
  if (on === 'card') return card
  if (on === 'board') return { text: 'the board' }
  if (on === 'member') return { text: people.map(nameOf).join() }
  return { text: `the ${nouns[on]} ${quoted(name)}` }
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** The names of the users; the actor is “themselves”. */
const whoOf = (users: readonly User[], actor_id: string | null): string =>
  listed(users.map((user) => (user.id === actor_id ? 'themselves' : nameOf(user))))
