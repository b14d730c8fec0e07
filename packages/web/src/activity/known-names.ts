import type { Card, Checklist, FullBoard, LoggedEvent, User } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'

/**
 * What things are called, as far as it can be known: from the board as it is, else from any event that mentions them. A lane
 * that was renamed goes by its present name, one that is gone by its last.
 */
export class KnownNames {
  private readonly people = new Map<string, User>()
  private readonly lanes = new Map<string, string>()
  private readonly cards = new Map<string, string>()
  private readonly card_of_checklist = new Map<string, string>()
  /** The cards that are still there. */
  private readonly existing = new Set<string>()

  constructor(events: readonly LoggedEvent[], { members, columns }: FullBoard) {
    for (const event of events) this.learn(event)
    for (const { user } of members) this.people.set(user.id, user)
    for (const { id, title, cards } of columns) {
      this.lanes.set(id, title)
      for (const card of cards) {
        this.learnCard(card)
        this.existing.add(card.id)
      }
    }
  }

  user(id: string): User | undefined {
    return this.people.get(id)
  }
  person(id: string): string {
    const user = this.people.get(id)
    return user ? nameOf(user) : 'Somebody'
  }
  lane(id: string): string {
    return this.lanes.get(id) ?? 'a lane that is gone'
  }
  cardTitle(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.cards.get(id)
  }
  cardOf(checklist_id: string): string | undefined {
    return this.card_of_checklist.get(checklist_id)
  }
  isThere(card_id: string): boolean {
    return this.existing.has(card_id)
  }

  private learn(event: LoggedEvent) {
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
        this.lanes.set(event.data.id, event.data.title)
        for (const card of event.data.cards) this.learnCard(card)
        break
      case 'card.created':
      case 'card.updated':
      case 'card.deleted':
      case 'card.moved':
      case 'card.labeled':
      case 'card.unlabeled':
      case 'card.assigned':
      case 'card.unassigned':
        this.learnCard(event.data)
        break
      case 'checklist.created':
      case 'checklist.updated':
      case 'checklist.deleted':
      case 'checklist.moved':
        this.learnChecklist(event.data)
    }
  }
  private learnCard(card: Card) {
    this.cards.set(card.id, card.title)
    for (const user of card.assignees) this.people.set(user.id, user)
    for (const checklist of card.checklists) this.learnChecklist(checklist)
  }
  private learnChecklist({ id, card_id }: Checklist) {
    this.card_of_checklist.set(id, card_id)
  }
}
