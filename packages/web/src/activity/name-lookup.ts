import type { Card, Checklist, FullBoard, LoggedEvent, User } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'

/**
 * Names by id: from the current board, else from any event that mentions the object. A renamed column has its current name,
 * a deleted one its last.
 */
export class NameLookup {
  private readonly people = new Map<string, User>()
  private readonly columns = new Map<string, string>()
  private readonly cards = new Map<string, string>()
  private readonly cardOfChecklist = new Map<string, string>()
  /** The cards that still exist. */
  private readonly existing = new Set<string>()

  constructor(events: readonly LoggedEvent[], { members, columns }: FullBoard) {
    for (const event of events) this.addEvent(event)
    for (const { user } of members) this.people.set(user.id, user)
    for (const { id, title, cards } of columns) {
      this.columns.set(id, title)
      for (const card of cards) {
        this.addCard(card)
        this.existing.add(card.id)
      }
    }
  }

  user(id: string): User | undefined {
    return this.people.get(id)
  }
  person(id: string): string {
    const user = this.people.get(id)
    return user ? nameOf(user) : 'Someone'
  }
  column(id: string): string {
    return this.columns.get(id) ?? 'a deleted column'
  }
  cardTitle(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.cards.get(id)
  }
  cardOf(checklist_id: string): string | undefined {
    return this.cardOfChecklist.get(checklist_id)
  }
  exists(card_id: string): boolean {
    return this.existing.has(card_id)
  }

  private addEvent(event: LoggedEvent) {
    switch (event.type) {
      case 'board.updated':
        for (const { user } of event.data.members) this.people.set(user.id, user)
        break
      case 'board.member_added':
      case 'board.member_removed':
        this.people.set(event.data.user_id, event.data.user)
        break
      case 'column.created':
      case 'column.updated':
      case 'column.deleted':
      case 'column.moved':
        this.columns.set(event.data.id, event.data.title)
        for (const card of event.data.cards) this.addCard(card)
        break
      case 'card.created':
      case 'card.updated':
      case 'card.deleted':
      case 'card.moved':
      case 'card.labeled':
      case 'card.unlabeled':
      case 'card.assigned':
      case 'card.unassigned':
        this.addCard(event.data)
        break
      case 'checklist.created':
      case 'checklist.updated':
      case 'checklist.deleted':
      case 'checklist.moved':
        this.addChecklist(event.data)
    }
  }
  private addCard(card: Card) {
    this.cards.set(card.id, card.title)
    for (const user of card.assignees) this.people.set(user.id, user)
    for (const checklist of card.checklists) this.addChecklist(checklist)
  }
  private addChecklist({ id, card_id }: Checklist) {
    this.cardOfChecklist.set(id, card_id)
  }
}
