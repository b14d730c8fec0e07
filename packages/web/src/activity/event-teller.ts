import type { Board, BoardEvent, Card, ChecklistItem, User } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'
import type { KnownNames } from './known-names.ts'
import type { Sentence, Words } from './sentence.ts'

const quoted = (text: string) => `“${text}”`

/** A sentence, and whether it is a rule's when nobody asked for it. */
interface Said {
  sentence: Sentence
  is_rule?: boolean
}
type CardEvent = Extract<BoardEvent, { type: `card.${string}` }>
type ItemEvent = Extract<BoardEvent, { type: `checklist_item.${string}` }>

/** Tells one event after the other, and remembers how things were. */
export class EventTeller {
  private readonly names: KnownNames
  private readonly cards = new Map<string, Card>()
  private readonly items = new Map<string, ChecklistItem>()
  /** Titles of lanes, labels and checklists. */
  private readonly titles = new Map<string, string>()
  private readonly roles = new Map<string, string>()
  private board: Board | undefined

  constructor(names: KnownNames) {
    this.names = names
  }

  tell(event: BoardEvent): Said | undefined {
    switch (event.type) {
      case 'board.updated': {
        const sentence = tellBoard(event.data, this.board, this.roles)
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
        return this.tellNamed(event, 'lane', event.data.title)
      case 'label.created':
      case 'label.updated':
      case 'label.deleted':
        return this.tellNamed(event, 'label', event.data.name)
      case 'checklist.created':
      case 'checklist.updated':
      case 'checklist.moved':
      case 'checklist.deleted':
        for (const item of event.data.items) this.items.set(item.id, item)
        return this.tellNamed(event, 'checklist', event.data.title, this.on(event.data.card_id))
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
        return this.tellItem(event, before)
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
        return this.tellCard(event, before)
      }
      default:
        // A newer service may know more kinds.
        return plain('made a change', `(${(event as { type: string }).type})`)
    }
  }

  /** Lanes, labels and checklists: made, renamed, changed, moved, deleted. */
  private tellNamed(
    { type, data, user_id }: { type: string; data: { id: string; cards?: readonly Card[] }; user_id: string | null },
    noun: string,
    title: string,
    where: readonly Words[] = [],
  ): Said {
    const before = this.titles.get(data.id)
    this.titles.set(data.id, title)
    const object = `the ${noun} ${quoted(title)}`
    switch (type.split('.')[1]) {
      case 'created':
        return plain('added', object, `${noun}s`, where)
      case 'moved':
        return user_id === null ? madeRoom(object, `${noun}s`) : plain('moved', object, `${noun}s`, where)
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

  private tellCard({ type, data: card, user_id }: CardEvent, before: Card | undefined): Said | undefined {
    const lane = this.names.lane(card.column_id)
    const named = this.card(card.id, card.title)
    const about = (verb: string, rest = '') => said(verb, named, 'cards', rest ? [{ text: rest }] : [])
    switch (type) {
      case 'card.created':
        return about('added', `to ${lane}`)
      case 'card.deleted':
        return about('deleted', `from ${lane}`)
      case 'card.updated':
        if (!before || before.title === card.title) return about('changed')
        return said('renamed', this.card(card.id, before.title), '', [{ text: `to ${quoted(card.title)}` }])
      case 'card.moved': {
        // Without what was before, nobody knows whether the lane is another one: both can be meant by this.
        if (!before) return about('placed', `in ${lane}`)
        if (before.column_id !== card.column_id) return { ...about('moved', `to ${lane}`), is_rule: true }
        return user_id === null ? madeRoom(named.text, 'cards', named) : about('moved', `within ${lane}`)
      }
      case 'card.labeled':
      case 'card.unlabeled': {
        // Labels stand in the order in which they were put on.
        const label = type === 'card.labeled' ? card.labels.at(-1) : missing(card.labels, before?.labels)[0]
        const object = label ? `the label ${quoted(label.name)}` : 'a label'
        const [verb, word] = type === 'card.labeled' ? ['put', 'on'] : ['took', 'off']
        return plain(verb, object, 'labels', [{ text: word }, named])
      }
      case 'card.assigned': {
        const added = before ? missing(before.assignees, card.assignees) : card.assignees
        // All users of one request come with the same card: the first event names them all.
        if (before?.updated_at === card.updated_at && added.length === 0) return undefined
        const isSure = before ? added.length > 0 : added.length === 1
        const who = isSure ? whoOf(added, user_id) : 'somebody'
        return { ...plain('assigned', who, added.length === 1 ? 'people' : '', [{ text: 'to' }, named]), is_rule: true }
      }
      case 'card.unassigned': {
        const gone = missing(card.assignees, before?.assignees)
        const who = gone.length > 0 ? whoOf(gone, user_id) : 'somebody'
        return plain('took', who, gone.length === 1 ? 'people' : '', [{ text: 'off' }, named])
      }
    }
  }

  private tellItem({ type, data, user_id }: ItemEvent, before: ChecklistItem | undefined): Said | undefined {
    const object = quoted(data.content)
    const card_id = this.names.cardOf(data.checklist_id)
    switch (type) {
      case 'checklist_item.created':
        return plain('added', `the item ${object}`, 'items', this.on(card_id, 'to'))
      case 'checklist_item.deleted':
        return plain('deleted', `the item ${object}`, 'items', this.on(card_id, 'from'))
      case 'checklist_item.moved':
        if (user_id === null) return madeRoom(`the item ${object}`, 'items')
        return plain('moved', `the item ${object}`, 'items', this.on(card_id))
      case 'checklist_item.updated':
        if (!before || before.is_done === data.is_done)
          return plain('changed', `the item ${object}`, 'items', this.on(card_id))
        return plain(data.is_done ? 'ticked off' : 'unticked', object, 'items', this.on(card_id))
      case 'checklist_item.assigned': {
        const added = before ? missing(before.assignees, data.assignees) : data.assignees
        const who = added.length === 1 || (before && added.length > 0) ? whoOf(added, user_id) : 'somebody'
        return plain('assigned', who, '', [{ text: `to ${object}` }, ...this.on(card_id)])
      }
      case 'checklist_item.unassigned': {
        const gone = missing(data.assignees, before?.assignees)
        const who = gone.length > 0 ? whoOf(gone, user_id) : 'somebody'
        return plain('took', who, '', [{ text: `off ${object}` }, ...this.on(card_id)])
      }
    }
  }

  private card(id: string, title: string): Words {
    return this.names.isThere(id) ? { text: quoted(title), card_id: id } : { text: quoted(title) }
  }
  private on(card_id: string | undefined, word = 'on'): Words[] {
    const title = this.names.cardTitle(card_id)
    return card_id === undefined || title === undefined ? [] : [{ text: word }, this.card(card_id, title)]
  }
}

function tellBoard(board: Board, before: Board | undefined, roles: ReadonlyMap<string, string>): Sentence {
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

const said = (verb: string, object: Words, noun = '', rest: readonly Words[] = []): Said => ({
  sentence: { verb, object, rest, noun },
})
const plain = (verb: string, text: string, noun = '', rest: readonly Words[] = []) => said(verb, { text }, noun, rest)
const madeRoom = (text: string, noun: string, object: Words = { text }) => said('made room around', object, noun)

/** What is in the second list and not in the first. */
const missing = <T extends { id: string }>(from: readonly T[], list: readonly T[] = []): T[] =>
  list.filter(({ id }) => from.every((other) => other.id !== id))

const listed = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** The users by name; who did it himself needs no name twice. */
const whoOf = (users: readonly User[], actor_id: string | null): string =>
  listed(users.map((user) => (user.id === actor_id ? 'themselves' : nameOf(user))))
