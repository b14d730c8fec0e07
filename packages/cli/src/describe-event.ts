import type { FullBoard, User } from '@lockstep/client'
import { EventDescriber, type EventMessage, KnownResources } from '@lockstep/client/describe'
import type { BoardEvent } from '@lockstep/client/live'
import { escapeControlChars } from './terminal.ts'

const quoted = (text: string) => `“${escapeControlChars(text)}”`
const handle = ({ username }: User) => `@${escapeControlChars(username)}`

/** The nouns of the resources. */
const nouns: Record<EventMessage['on'], string> = {
  board: 'board',
  member: 'member',
  column: 'column',
  card: 'card',
  label: 'label',
  checklist: 'checklist',
  item: 'item',
  attachment: 'file',
  comment: 'comment',
}

/** Describes events of a board in words. */
export class EventPrinter {
  private readonly known = new KnownResources()
  private readonly describer = new EventDescriber(this.known)

  constructor(board: FullBoard) {
    this.update(board)
  }

  /** Updates the state after skipped events. */
  update(board: FullBoard): void {
    this.known.addBoard(board)
  }

  actorOf({ user_id }: Pick<BoardEvent, 'user_id'>): string {
    if (user_id === null) return 'lockstep'
    return escapeControlChars(this.known.user(user_id)?.username ?? user_id.slice(0, 8))
  }

  /** Describes what was done; to be printed after the user's name. */
  describe(event: BoardEvent): string {
    return this.words(this.describer.describe(event))
  }

  private words(message: EventMessage): string {
    const { key, on, name, people = [], linked, card_id } = message
    const object = objectOf(message)
    const [column, from] = [this.column(message.column_id), this.column(message.from_column_id)]
    const title = this.known.name(card_id)
    const at = title === undefined ? '' : ` on ${quoted(title)}`
    const who = people.length > 0 ? people.map(handle).join(', ') : 'someone'
    switch (key) {
      case 'created':
        if (on === 'comment') return `commented${at}`
        if (on === 'member') return `invited ${who}`
        return on === 'card' ? `added ${object} to ${column}` : `added ${object}${at}`
      case 'deleted':
      case 'archived':
        if (on === 'member') return `removed ${who} from the board`
        if (on === 'board') return `${key} ${object}`
        if (on === 'card') return `${key} ${object} from ${column}`
        return `${key} ${object}${on === 'column' ? ` with ${message.cardCount} cards` : at}`
      case 'restored':
        return on === 'card' ? `restored ${object} to ${column}` : `restored ${object}`
      case 'changed':
        return `${on === 'comment' ? 'edited' : 'changed'} ${object}${at}`
      case 'renamed':
        return `renamed ${object} to ${quoted(message.newName ?? '')}`
      case 'description_changed':
        return `changed the description of ${object}`
      case 'due_changed':
        return message.dueOn ? `set the due date of ${object} to ${message.dueOn}` : `removed the due date of ${object}`
      case 'role_changed':
        return `made ${who} ${message.role === 'owner' ? 'an owner' : 'a member'}`
      case 'checked':
        return `checked off ${quoted(name)}${at}`
      case 'unchecked':
        return `unchecked ${quoted(name)}${at}`
      case 'moved':
        return on === 'card' ? `moved ${object} within ${column}` : `moved ${object}${at}`
      case 'moved_to_other_list':
        return `moved ${object} from ${from} to ${column}`
      case 'placed':
        return `placed ${object} in ${column}`
      case 'rebalanced':
        return `adjusted the position of ${object}`
      case 'assigned':
        return `assigned ${who} to ${object}${at}`
      case 'unassigned':
        return `unassigned ${who} from ${object}${at}`
      case 'linked':
        return `added ${linkedName(linked)} to ${object}`
      case 'unlinked':
        return `removed ${linkedName(linked)} from ${object}`
      case 'left':
        return 'left the board'
      case 'unknown':
        return name
    }
  }

  private column(id: string | undefined): string {
    return escapeControlChars(this.known.name(id) ?? 'another column')
  }
}

function objectOf({ on, name }: EventMessage): string {
  if (on === 'card') return quoted(name)
  if (on === 'board') return 'the board'
  if (on === 'comment') return 'a comment'
  return on === 'label' ? `the label #${escapeControlChars(name)}` : `the ${nouns[on]} ${quoted(name)}`
}

function linkedName(linked: EventMessage['linked']): string {
  const noun = nouns[linked?.on ?? 'label']
  return linked?.name === undefined ? `a ${noun}` : `#${escapeControlChars(linked.name)}`
}
