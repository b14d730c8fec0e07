import type { FullBoard, LoggedEvent, User } from '@lockstep/client'
import { KnownResources } from '@lockstep/client/describe'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/**
 * Names by id: from the current board, else from any event that mentions the object. A renamed column has its current name,
 * a deleted one its last.
 */
export class NameLookup {
  readonly known = new KnownResources()
  /** The cards that still exist. */
  private readonly existing: ReadonlySet<string>

  constructor(events: readonly LoggedEvent[], board: FullBoard) {
    for (const event of events) this.known.addEvent(event)
    this.known.addBoard(board)
    this.existing = new Set(board.columns.flatMap(({ cards }) => cards.map(({ id }) => id)))
  }

  user(id: string): User | undefined {
    return this.known.user(id)
  }
  person(id: string): string {
    const user = this.known.user(id)
    return user ? nameOf(user) : t.unknownPerson
  }
  column(id: string): string {
    return this.known.name(id) ?? t.deletedColumn
  }
  cardTitle(id: string | undefined): string | undefined {
    return this.known.name(id)
  }
  exists(card_id: string): boolean {
    return this.existing.has(card_id)
  }
}
