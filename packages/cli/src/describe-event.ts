import type { Card, Checklist, FullBoard } from '@lockstep/client'
import type { BoardEvent } from '@lockstep/client/live'
import { escapeControlChars } from './terminal.ts'

type KnownCard = Pick<Card, 'title' | 'column_id' | 'labels' | 'assignees'>
const quoted = (text: string) => `“${escapeControlChars(text)}”`

/** Describes events of a board in words. It tracks the previous state, because an event contains only the new one. */
export class EventDescriber {
  private readonly people = new Map<string, string>()
  private readonly columns = new Map<string, string>()
  private readonly cards = new Map<string, KnownCard>()
  private readonly checklists = new Map<string, string>()
  private readonly items = new Map<string, boolean>()

  constructor(board: FullBoard) {
    this.update(board)
  }

  /** Updates the state after skipped events. */
  update(board: FullBoard): void {
    for (const { user_id, user } of board.members) this.people.set(user_id, user.username)
    for (const { id, title, cards } of board.columns) {
      this.columns.set(id, title)
      for (const card of cards) this.updateCard(card)
    }
  }

  actorOf({ user_id }: Pick<BoardEvent, 'user_id'>): string {
    if (user_id === null) return 'lockstep'
    return escapeControlChars(this.people.get(user_id) ?? user_id.slice(0, 8))
  }

  /** Describes what was done; to be printed after the user's name. */
  describe(event: BoardEvent): string {
    switch (event.type) {
      case 'board.updated':
        return `changed the board ${quoted(event.data.title)}`
      case 'board.deleted':
        return 'deleted the board'
      case 'board.member_added':
        this.people.set(event.data.user_id, event.data.user.username)
        return `invited @${escapeControlChars(event.data.user.username)}`
      case 'board.member_removed':
        return event.user_id === event.data.user_id
          ? 'left the board'
          : `removed @${escapeControlChars(event.data.user.username)} from the board`
      case 'column.created':
      case 'column.updated':
      case 'column.moved':
        this.columns.set(event.data.id, event.data.title)
        return `${verbOf(event.type)} the column ${quoted(event.data.title)}`
      case 'column.deleted':
        return `deleted the column ${quoted(event.data.title)} with ${event.data.cards.length} cards`
      case 'card.created':
      case 'card.updated':
      case 'card.deleted':
      case 'card.moved':
      case 'card.labeled':
      case 'card.unlabeled':
      case 'card.assigned':
      case 'card.unassigned': {
        const before = this.cards.get(event.data.id)
        this.updateCard(event.data)
        return this.describeCard(event.type, event.data, before)
      }
      case 'label.created':
      case 'label.updated':
      case 'label.deleted':
        return `${verbOf(event.type)} the label #${escapeControlChars(event.data.name)}`
      case 'checklist.created':
      case 'checklist.updated':
      case 'checklist.deleted':
      case 'checklist.moved':
        this.updateChecklist(event.data)
        return `${verbOf(event.type)} the checklist ${quoted(event.data.title)}${this.on(event.data.card_id)}`
      case 'checklist_item.updated': {
        const { id, content, is_done } = event.data
        const wasDone = this.items.get(id)
        this.items.set(id, is_done)
        if (wasDone === is_done) return `changed the item ${quoted(content)}`
        return `${is_done ? 'checked off' : 'unchecked'} ${quoted(content)}${this.in(event.data.checklist_id)}`
      }
      case 'checklist_item.created':
      case 'checklist_item.deleted':
      case 'checklist_item.moved':
      case 'checklist_item.assigned':
      case 'checklist_item.unassigned':
        this.items.set(event.data.id, event.data.is_done)
        return `${verbOf(event.type)} the item ${quoted(event.data.content)}${this.in(event.data.checklist_id)}`
      case 'attachment.created':
      case 'attachment.deleted':
        return `${verbOf(event.type)} the file ${quoted(event.data.name)}${this.on(event.data.card_id)}`
      default:
        // A newer service may send unknown kinds of events.
        return (event as { type: string }).type
    }
  }

  private describeCard(type: string, card: Card, before: KnownCard | undefined): string {
    const name = quoted(card.title)
    const column = this.column(card.column_id)
    const label = differing(card.labels, before?.labels)
    const person = differing(card.assignees, before?.assignees)
    switch (type) {
      case 'card.created':
        return `added ${name} to ${column}`
      case 'card.updated':
        return before && before.title !== card.title ? `renamed ${quoted(before.title)} to ${name}` : `changed ${name}`
      case 'card.deleted':
        return `deleted ${name} from ${column}`
      case 'card.moved':
        return before && before.column_id !== card.column_id
          ? `moved ${name} from ${this.column(before.column_id)} to ${column}`
          : `moved ${name} within ${column}`
      case 'card.labeled':
        return `added ${label ? `#${escapeControlChars(label.name)}` : 'a label'} to ${name}`
      case 'card.unlabeled':
        return `removed ${label ? `#${escapeControlChars(label.name)}` : 'a label'} from ${name}`
      case 'card.assigned':
        return `assigned ${person ? `@${escapeControlChars(person.username)}` : 'someone'} to ${name}`
      default:
        return `unassigned ${person ? `@${escapeControlChars(person.username)}` : 'someone'} from ${name}`
    }
  }

  private updateCard(card: Card): void {
    const { id, title, column_id, labels, assignees, checklists } = card
    this.cards.set(id, { title, column_id, labels, assignees })
    for (const checklist of checklists) this.updateChecklist(checklist)
  }

  private updateChecklist({ id, card_id, items }: Checklist): void {
    this.checklists.set(id, card_id)
    for (const item of items) this.items.set(item.id, item.is_done)
  }

  private column(id: string): string {
    return escapeControlChars(this.columns.get(id) ?? 'another column')
  }
  private on(card_id: string): string {
    const card = this.cards.get(card_id)
    return card ? ` on ${quoted(card.title)}` : ''
  }
  private in(checklist_id: string): string {
    return this.on(this.checklists.get(checklist_id) ?? '')
  }
}

/** The item that is in only one of two lists. */
function differing<T extends { id: string }>(now: readonly T[], before: readonly T[] = []): T | undefined {
  const isIn = (list: readonly T[], { id }: T) => list.some((other) => other.id === id)
  return now.find((item) => !isIn(before, item)) ?? before.find((item) => !isIn(now, item))
}

const verbs: Record<string, string> = {
  created: 'added',
  updated: 'changed',
  assigned: 'assigned someone to',
  unassigned: 'unassigned someone from',
}
const verbOf = (type: string) => {
  const past = type.split('.')[1] ?? type
  return verbs[past] ?? past
}
