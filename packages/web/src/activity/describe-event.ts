import type { Board, BoardEvent, Card, ChecklistItem, User } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'
import type { NameLookup } from './name-lookup.ts'
import type { Sentence, SentencePart } from './sentence.ts'

const quoted = (text: string) => `“${text}”`

/** A sentence, and whether its actor is a rule if the event has no user. */
interface EventDescription {
  sentence: Sentence
  isRule?: boolean
}
type CardEvent = Extract<BoardEvent, { type: `card.${string}` }>
type ItemEvent = Extract<BoardEvent, { type: `checklist_item.${string}` }>

/** Describes events in order. It remembers the previous state of every object, to say what changed. */
export class EventDescriber {
  private readonly names: NameLookup
  private readonly cards = new Map<string, Card>()
  private readonly items = new Map<string, ChecklistItem>()
  /** Titles of columns, labels and checklists. */
  private readonly titles = new Map<string, string>()
  private readonly roles = new Map<string, string>()
  private board: Board | undefined

  constructor(names: NameLookup) {
    this.names = names
  }

  describeEvent(event: BoardEvent): EventDescription | undefined {
    switch (event.type) {
      case 'board.updated': {
        const sentence = describeBoard(event.data, this.board, this.roles)
        this.board = event.data
        for (const { user_id, role } of event.data.members) this.roles.set(user_id, role)
        return { sentence }
      }
      case 'board.deleted':
        return plain('deleted', 'the board')
      case 'board.member_added':
        this.roles.set(event.data.user_id, event.data.role)
        return plain('invited', nameOf(event.data.user), 'people')
      case 'board.member_removed':
        return event.user_id === event.data.user_id
          ? plain('left', 'the board')
          : plain('removed', nameOf(event.data.user), 'people', [{ text: 'from the board' }])
      case 'column.created':
      case 'column.updated':
      case 'column.moved':
      case 'column.deleted':
        return this.describeNamed(event, 'column', event.data.title)
      case 'label.created':
      case 'label.updated':
      case 'label.deleted':
        return this.describeNamed(event, 'label', event.data.name)
      case 'checklist.created':
      case 'checklist.updated':
      case 'checklist.moved':
      case 'checklist.deleted':
        for (const item of event.data.items) this.items.set(item.id, item)
        return this.describeNamed(event, 'checklist', event.data.title, this.on(event.data.card_id))
      case 'attachment.created':
        return plain('attached', quoted(event.data.name), 'files', this.on(event.data.card_id, 'to'))
      case 'attachment.deleted':
        return plain('deleted', `the file ${quoted(event.data.name)}`, 'files', this.on(event.data.card_id, 'from'))
      case 'checklist_item.created':
      case 'checklist_item.updated':
      case 'checklist_item.deleted':
      case 'checklist_item.moved':
      case 'checklist_item.assigned':
      case 'checklist_item.unassigned': {
        const before = this.items.get(event.data.id)
        this.items.set(event.data.id, event.data)
        return this.describeItem(event, before)
      }
      case 'card.created':
      case 'card.updated':
      case 'card.deleted':
      case 'card.moved':
      case 'card.labeled':
      case 'card.unlabeled':
      case 'card.assigned':
      case 'card.unassigned': {
        const before = this.cards.get(event.data.id)
        this.cards.set(event.data.id, event.data)
        for (const item of event.data.checklists.flatMap(({ items }) => items)) this.items.set(item.id, item)
        return this.describeCard(event, before)
      }
      default:
        // A newer server may have more event kinds.
        return plain('made a change', `(${(event as { type: string }).type})`)
    }
  }

  /** Columns, labels and checklists: created, renamed, changed, moved, deleted. */
  private describeNamed(
    { type, data, user_id }: { type: string; data: { id: string; cards?: readonly Card[] }; user_id: string | null },
    noun: string,
    title: string,
    where: readonly SentencePart[] = [],
  ): EventDescription {
    const before = this.titles.get(data.id)
    this.titles.set(data.id, title)
    const object = `the ${noun} ${quoted(title)}`
    switch (type.split('.')[1]) {
      case 'created':
        return plain('added', object, `${noun}s`, where)
      case 'moved':
        return user_id === null ? rebalanced(object, `${noun}s`) : plain('moved', object, `${noun}s`, where)
      case 'deleted': {
        const count = data.cards?.length ?? 0
        const lost = count === 0 ? '' : `with ${count === 1 ? 'its card' : `its ${count} cards`}`
        return plain('deleted', object, `${noun}s`, lost ? [{ text: lost }] : where)
      }
      default:
        return before !== undefined && before !== title
          ? plain('renamed', `the ${noun} ${quoted(before)}`, '', [{ text: `to ${quoted(title)}` }])
          : plain('changed', object, `${noun}s`, where)
    }
  }

  private describeCard(
    { type, data: card, user_id }: CardEvent,
    before: Card | undefined,
  ): EventDescription | undefined {
    const column = this.names.column(card.column_id)
    const named = this.card(card.id, card.title)
    const about = (verb: string, rest = '') => describe(verb, named, 'cards', rest ? [{ text: rest }] : [])
    switch (type) {
      case 'card.created':
        return about('added', `to ${column}`)
      case 'card.deleted':
        return about('deleted', `from ${column}`)
      case 'card.updated':
        if (!before || before.title === card.title) return about('changed')
        return describe('renamed', this.card(card.id, before.title), '', [{ text: `to ${quoted(card.title)}` }])
      case 'card.moved': {
        // Without the previous state it is unknown whether the column changed: “placed” fits both.
        if (!before) return about('placed', `in ${column}`)
        if (before.column_id !== card.column_id) return { ...about('moved', `to ${column}`), isRule: true }
        return user_id === null ? rebalanced(named.text, 'cards', named) : about('moved', `within ${column}`)
      }
      case 'card.labeled':
      case 'card.unlabeled': {
        // Labels are in the order in which they were added.
        const label = type === 'card.labeled' ? card.labels.at(-1) : missing(card.labels, before?.labels)[0]
        const object = label ? `the label ${quoted(label.name)}` : 'a label'
        const [verb, preposition] = type === 'card.labeled' ? ['added', 'to'] : ['removed', 'from']
        return plain(verb, object, 'labels', [{ text: preposition }, named])
      }
      case 'card.assigned': {
        const added = before ? missing(before.assignees, card.assignees) : card.assignees
        // One request can assign several users. All its events contain the same card: the first one names them all.
        if (before?.updated_at === card.updated_at && added.length === 0) return undefined
        const isSure = before ? added.length > 0 : added.length === 1
        const who = isSure ? whoOf(added, user_id) : 'someone'
        return { ...plain('assigned', who, added.length === 1 ? 'people' : '', [{ text: 'to' }, named]), isRule: true }
      }
      case 'card.unassigned': {
        const removed = missing(card.assignees, before?.assignees)
        const who = removed.length > 0 ? whoOf(removed, user_id) : 'someone'
        return plain('unassigned', who, removed.length === 1 ? 'people' : '', [{ text: 'from' }, named])
      }
    }
  }

  private describeItem(
    { type, data, user_id }: ItemEvent,
    before: ChecklistItem | undefined,
  ): EventDescription | undefined {
    const object = quoted(data.content)
    const card_id = this.names.cardOf(data.checklist_id)
    switch (type) {
      case 'checklist_item.created':
        return plain('added', `the item ${object}`, 'items', this.on(card_id, 'to'))
      case 'checklist_item.deleted':
        return plain('deleted', `the item ${object}`, 'items', this.on(card_id, 'from'))
      case 'checklist_item.moved':
        if (user_id === null) return rebalanced(`the item ${object}`, 'items')
        return plain('moved', `the item ${object}`, 'items', this.on(card_id))
      case 'checklist_item.updated':
        if (!before || before.is_done === data.is_done)
          return plain('changed', `the item ${object}`, 'items', this.on(card_id))
        return plain(data.is_done ? 'checked off' : 'unchecked', object, 'items', this.on(card_id))
      case 'checklist_item.assigned': {
        const added = before ? missing(before.assignees, data.assignees) : data.assignees
        const who = added.length === 1 || (before && added.length > 0) ? whoOf(added, user_id) : 'someone'
        return plain('assigned', who, '', [{ text: `to ${object}` }, ...this.on(card_id)])
      }
      case 'checklist_item.unassigned': {
        const removed = missing(data.assignees, before?.assignees)
        const who = removed.length > 0 ? whoOf(removed, user_id) : 'someone'
        return plain('unassigned', who, '', [{ text: `from ${object}` }, ...this.on(card_id)])
      }
    }
  }

  private card(id: string, title: string): SentencePart {
    return this.names.exists(id) ? { text: quoted(title), card_id: id } : { text: quoted(title) }
  }
  private on(card_id: string | undefined, preposition = 'on'): SentencePart[] {
    const title = this.names.cardTitle(card_id)
    return card_id === undefined || title === undefined ? [] : [{ text: preposition }, this.card(card_id, title)]
  }
}

function describeBoard(board: Board, before: Board | undefined, roles: ReadonlyMap<string, string>): Sentence {
  const changed = plain('changed', 'the board').sentence
  if (before && before.title !== board.title)
    return { ...changed, verb: 'renamed', rest: [{ text: `to ${quoted(board.title)}` }] }
  if (before && before.description !== board.description)
    return { ...changed, object: { text: 'the description of the board' } }
  const other = board.members.find(({ user_id, role }) => roles.has(user_id) && roles.get(user_id) !== role)
  if (!other) return changed
  const role = other.role === 'owner' ? 'an owner' : 'a member'
  return plain('made', nameOf(other.user), '', [{ text: role }]).sentence
}

const describe = (
  verb: string,
  object: SentencePart,
  noun = '',
  rest: readonly SentencePart[] = [],
): EventDescription => ({
  sentence: { verb, object, rest, noun },
})
const plain = (verb: string, text: string, noun = '', rest: readonly SentencePart[] = []) =>
  describe(verb, { text }, noun, rest)
const rebalanced = (text: string, noun: string, object: SentencePart = { text }) =>
  describe('adjusted the position of', object, noun)

/** The items of the second list that are not in the first. */
const missing = <T extends { id: string }>(from: readonly T[], list: readonly T[] = []): T[] =>
  list.filter(({ id }) => from.every((other) => other.id !== id))

const listed = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** The names of the users; the actor is “themselves”. */
const whoOf = (users: readonly User[], actor_id: string | null): string =>
  listed(users.map((user) => (user.id === actor_id ? 'themselves' : nameOf(user))))
