import type { ResourceName } from '../live/model.gen.ts'
import { type EventModel, eventModel } from '../live/model.ts'
import { get, type Item, listOf } from '../live/tree.ts'
import type { Board, BoardEvent, BoardMember, Card, User } from '../types.gen.ts'
import { KnownResources, linkedTo, nameOf } from './known-resources.ts'

/** What happened, as a key for the texts of an application. */
export type MessageKey =
  | 'created'
  | 'changed'
  | 'renamed'
  | 'description_changed'
  | 'due_changed'
  | 'role_changed'
  | 'checked'
  | 'unchecked'
  | 'moved'
  | 'moved_to_other_list'
  /** Moved, and it is unknown whether to another list. */
  | 'placed'
  /** The server changed only its rank, to make room for others. */
  | 'rebalanced'
  | 'deleted'
  | 'archived'
  /** A card or a column that is back on the board, or a board that is no longer archived. */
  | 'restored'
  | 'assigned'
  | 'unassigned'
  | 'linked'
  | 'unlinked'
  | 'left'
  /** An event of a newer server. */
  | 'unknown'

/** An event in a form that an application can put into words. */
export interface EventMessage {
  key: MessageKey
  on: ResourceName | 'member' | 'comment'
  id: string
  /** The title, name or content; for `renamed` the old one, for `unknown` the kind of the event. Empty for a comment. */
  name: string
  newName?: string
  /** The card that it belongs to. */
  card_id?: string | undefined
  /** The column of a card, and the one it came from. */
  column_id?: string
  from_column_id?: string
  /** What was added or removed; undefined if unknown. */
  linked?: { on: ResourceName; name: string | undefined }
  /** Who was assigned, unassigned, invited, removed or given a role; empty if unknown. */
  people?: readonly User[]
  role?: BoardMember['role']
  /** The new due date of a card; null if it was removed. */
  dueOn?: string | null
  /** How many cards left or came back with a column. */
  cardCount?: number
  /** Without a user, and not only a rank: an automation rule did it. */
  isByRule?: boolean
  /** One request can emit several equal events. */
  isRepeated?: boolean
}

/**
 * Describes events in order. An event contains only the new state; the previous state comes from earlier events and boards.
 * Where it is unknown, the message is less specific.
 */
export class EventDescriber {
  readonly #known: KnownResources
  readonly #names: KnownResources

  /** `known` is the previous state. `names` may know more, such as the current board. */
  constructor(known = new KnownResources(), names = known) {
    this.#known = known
    this.#names = names
  }

  describe(event: BoardEvent): EventMessage {
    const message = this.#messageOf(event)
    this.#known.addEvent(event)
    return message
  }

  #messageOf(event: BoardEvent): EventMessage {
    const { type, data, user_id } = event
    if ('user_id' in data) {
      const about = { on: 'member', id: data.user_id, name: data.user.username, people: [data.user] } as const
      if (type === 'board.member_added') return { key: 'created', ...about }
      return { key: user_id === data.user_id ? 'left' : 'deleted', ...about }
    }
    const comment = commentKeys[type]
    if (comment && 'card_id' in data)
      return { key: comment, on: 'comment', id: data.id, name: '', card_id: data.card_id }
    const model = eventModel(type)
    if (!model) return { key: 'unknown', on: 'board', id: '', name: type }
    const before = this.#known.find(data.id)
    if (model.on === 'board') return this.#describeBoard(model, data, before)
    const { on } = model
    const column_id = on === 'card' ? (get(data, 'column_id') as string) : undefined
    return {
      on,
      id: data.id,
      name: nameOf(on, data),
      card_id: this.#names.cardOf(on, data),
      ...(column_id && { column_id }),
      ...describeChange(model, event, data, before),
    }
  }

  #describeBoard({ verb, on }: EventModel, data: Item, before: Item | undefined): EventMessage {
    const about = { on, id: data.id, name: nameOf(on, data) }
    if (verb === 'delete') return { key: 'deleted', ...about }
    const board = data as Board
    const old = before as Board | undefined
    const [was, is] = [old?.archived_at != null, board.archived_at !== null]
    if (was !== is && (old || is)) return { key: is ? 'archived' : 'restored', ...about }
    if (old && old.title !== board.title) return { key: 'renamed', ...about, name: old.title, newName: board.title }
    if (old && old.description !== board.description) return { key: 'description_changed', ...about }
    const other = board.members.find(({ user_id, role }) => (this.#known.member(user_id)?.role ?? role) !== role)
    return other
      ? { key: 'role_changed', ...about, people: [other.user], role: other.role }
      : { key: 'changed', ...about }
  }
}

/** The board does not contain comments, so they have no model. */
const commentKeys: Partial<Record<string, MessageKey>> = {
  'comment.created': 'created',
  'comment.updated': 'changed',
  'comment.deleted': 'deleted',
}

type Change = Pick<EventMessage, 'key'> & Partial<EventMessage>

function describeChange(
  { verb, on, linked }: EventModel,
  { timestamp, user_id }: BoardEvent,
  data: Item,
  before: Item | undefined,
): Change {
  const isOfService = user_id === null
  const withCards = on === 'column' && { cardCount: listOf(data, 'cards').length }
  switch (verb) {
    case 'create':
      return isRestored(on, data, before, timestamp) ? { key: 'restored', ...withCards } : { key: 'created' }
    case 'delete': {
      const { removed } = data as Partial<Card>
      return { key: removed?.as === 'archived' ? 'archived' : 'deleted', ...withCards }
    }
    case 'update': {
      const wasDone = before && get(before, 'is_done')
      const isDone = get(data, 'is_done')
      if (before && wasDone !== isDone) return { key: isDone ? 'checked' : 'unchecked' }
      const [name, newName] = [before && nameOf(on, before), nameOf(on, data)]
      if (name !== undefined && name !== newName) return { key: 'renamed', name, newName }
      const [oldText, text] = [before && get(before, 'description'), get(data, 'description')]
      if (oldText !== undefined && oldText !== text) return { key: 'description_changed' }
      const [oldDue, dueOn] = [before && get(before, 'due_on'), get(data, 'due_on') as string | null | undefined]
      // Only cards have it.
      return oldDue === undefined || dueOn === undefined || oldDue === dueOn
        ? { key: 'changed' }
        : { key: 'due_changed', dueOn }
    }
    case 'move':
      return describeMove(on, data, before, isOfService)
    case 'assign': {
      const added = missing(assigneesOf(before), assigneesOf(data))
      // All events of one request contain the same resource: the first one names everyone.
      const isRepeated =
        before !== undefined && added.length === 0 && get(before, 'updated_at') === get(data, 'updated_at')
      const isSure = before ? added.length > 0 : added.length === 1
      return { key: 'assigned', people: isSure ? added : [], isByRule: isOfService, isRepeated }
    }
    case 'unassign':
      return { key: 'unassigned', people: missing(assigneesOf(data), assigneesOf(before)) }
    default: {
      if (!linked) return { key: 'changed' }
      const [old, now] = [linkedTo(before, linked), linkedTo(data, linked)]
      // They are in the order in which they were added.
      const other = verb === 'link' ? now.at(-1) : missing(now, old)[0]
      return {
        key: verb === 'link' ? 'linked' : 'unlinked',
        linked: { on: linked, name: other && nameOf(linked, other) },
      }
    }
  }
}

/** A card is older than the event of its return. A new column has no cards, and nothing is known about it. */
function isRestored(on: ResourceName, data: Item, before: Item | undefined, timestamp: string): boolean {
  if (on === 'column') return before !== undefined || listOf(data, 'cards').length > 0
  const created_at = on === 'card' && (get(data, 'created_at') as string | undefined)
  return !!created_at && Date.parse(created_at) < Date.parse(timestamp)
}

function describeMove(on: ResourceName, data: Item, before: Item | undefined, isOfService: boolean): Change {
  if (on !== 'card') return { key: isOfService ? 'rebalanced' : 'moved' }
  if (!before) return { key: 'placed' }
  const from_column_id = get(before, 'column_id') as string
  if (from_column_id !== get(data, 'column_id'))
    return { key: 'moved_to_other_list', from_column_id, isByRule: isOfService }
  return { key: isOfService ? 'rebalanced' : 'moved' }
}

/** The items of the second list that are not in the first. */
const missing = <T extends Item>(from: readonly Item[], list: readonly T[]): T[] =>
  list.filter(({ id }) => from.every((other) => other.id !== id))

const assigneesOf = (item: Item | undefined) => (item ? listOf(item, 'assignees') : []) as User[]
