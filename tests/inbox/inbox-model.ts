import type { InboxReason } from '@lockstep/contract/inbox'

/** An event of the log of a board. */
export interface LoggedChange {
  seq: number
  type: string
  /** Who did it. */
  user_id: string | null
  /** The user it is about. */
  subject_id: string
  at: string
  data: Record<string, unknown>
}

/** What an inbox shows. */
export interface ModelItem {
  reason: InboxReason
  count: number
  actor_id: string | null
  board_id: string
  card_id: string | null
  comment_id: string | null
  changed_at: string
  isRead: boolean
}

const mentionsIn = (text: string) =>
  new Set([...text.matchAll(/\(user:([0-9a-f-]{36})\)/g)].map(([, id]) => id as string))

/** The inboxes of the members of a board, as the rules say, from nothing but the events of its log. */
export class InboxModel {
  readonly happened = { notified: 0, withdrawn: 0, gathered: 0, left: 0, byRule: 0, ofItems: 0, replaced: 0 }
  private readonly board_id: string
  private isArchived = false
  /** The user of the latest event that has one. A rule acts in the change of that user. */
  private caller_id: string | null = null
  private readonly members: Set<string>
  private readonly cards = new Set<string>()
  /** The number of each card. A card that is purged and created again has the same id, but another number. */
  private readonly numbers = new Map<string, number>()
  /** The card of each checklist. */
  private readonly checklists = new Map<string, string>()
  /** The assignees of each card and each item, with the card. */
  private readonly assignees = new Map<string, { card_id: string; users: Set<string> }>()
  /** Whom each comment mentions. */
  private readonly comments = new Map<string, Set<string>>()
  /** By user, then by card or board. */
  private readonly items = new Map<string, Map<string, ModelItem>>()

  constructor(board_id: string, owner_id: string) {
    this.board_id = board_id
    this.members = new Set([owner_id])
  }

  isMember(user_id: string): boolean {
    return this.members.has(user_id)
  }

  /** What the user sees. */
  inboxOf(user_id: string): ModelItem[] {
    if (this.isArchived) return []
    return [...this.itemsOf(user_id).values()]
      .filter(({ card_id }) => card_id === null || this.cards.has(card_id))
      .map((item) => ({ ...item, comment_id: this.comments.has(item.comment_id ?? '') ? item.comment_id : null }))
  }

  mark(user_id: string, subject_id: string, isRead: boolean) {
    const item = this.itemsOf(user_id).get(subject_id)
    if (item) item.isRead = isRead
  }

  apply(change: LoggedChange) {
    const { type, subject_id, data } = change
    const id = data['id'] as string
    this.caller_id = change.user_id ?? this.caller_id
    if (type === 'board.updated') this.isArchived = data['archived_at'] !== null
    if (type === 'card.created') this.addCard(id, data['number'] as number)
    if (type === 'card.deleted') this.cards.delete(id)
    if (type === 'board.member_added') this.join(change)
    if (type === 'board.member_removed') this.leave(subject_id)
    if (type === 'card.assigned') this.assign(id, id, change)
    if (type === 'card.unassigned') this.unassign(id, subject_id)
    if (type === 'checklist.created') this.checklists.set(id, data['card_id'] as string)
    if (type === 'checklist.deleted') for (const item of data['items'] as { id: string }[]) this.unassignAll(item.id)
    if (type === 'checklist_item.assigned')
      this.assign(id, this.checklists.get(data['checklist_id'] as string) ?? '', change)
    if (type === 'checklist_item.unassigned') this.unassign(id, subject_id)
    if (type === 'checklist_item.deleted') this.unassignAll(id)
    if (type.startsWith('comment.')) this.comment(change)
  }

  private join(change: LoggedChange) {
    this.members.add(change.subject_id)
    this.notify(change.subject_id, change, { reason: 'added', card_id: null, comment_id: null })
  }

  private leave(user_id: string) {
    this.members.delete(user_id)
    this.items.delete(user_id)
    for (const { users } of this.assignees.values()) users.delete(user_id)
    this.happened.left++
  }

  /** A new card, or one that is restored. Nothing of a purged card belongs to a new one with its id. */
  private addCard(id: string, number: number) {
    if (this.numbers.has(id) && this.numbers.get(id) !== number) {
      for (const items of this.items.values()) items.delete(id)
      for (const [key, { card_id }] of this.assignees) if (card_id === id) this.assignees.delete(key)
      this.happened.replaced++
    }
    this.numbers.set(id, number)
    this.cards.add(id)
  }

  /** To a card, or to an item of it. */
  private assign(id: string, card_id: string, change: LoggedChange) {
    const { users } = this.assignees.get(id) ?? { users: new Set<string>() }
    this.assignees.set(id, { card_id, users })
    if (users.has(change.subject_id)) return
    users.add(change.subject_id)
    this.notify(change.subject_id, change, { reason: 'assigned', card_id, comment_id: null })
    if (change.user_id === null) this.happened.byRule++
    if (id !== card_id) this.happened.ofItems++
  }

  /** Withdraws the notification unless the user is still assigned to the card or to an item of it. */
  private unassign(id: string, user_id: string) {
    const { card_id, users } = this.assignees.get(id) ?? {}
    if (card_id === undefined || !users?.delete(user_id)) return
    for (const other of this.assignees.values()) if (other.card_id === card_id && other.users.has(user_id)) return
    this.withdraw(user_id, { reason: 'assigned', card_id, comment_id: null })
  }

  private unassignAll(id: string) {
    for (const user_id of this.assignees.get(id)?.users ?? []) this.unassign(id, user_id)
    this.assignees.delete(id)
  }

  private comment(change: LoggedChange) {
    const { id: comment_id, card_id, body } = change.data as { id: string; card_id: string; body: string }
    const before = this.comments.get(comment_id) ?? new Set()
    const after = change.type === 'comment.deleted' ? new Set<string>() : mentionsIn(body)
    const about = { reason: 'mentioned', card_id, comment_id } as const
    for (const user_id of before) if (!after.has(user_id)) this.withdraw(user_id, about)
    for (const user_id of after) if (!before.has(user_id)) this.notify(user_id, change, about)
    if (change.type === 'comment.deleted') this.comments.delete(comment_id)
    else this.comments.set(comment_id, after)
  }

  private notify(
    user_id: string,
    { user_id: actor_id, at: changed_at }: LoggedChange,
    about: Pick<ModelItem, 'reason' | 'card_id' | 'comment_id'>,
  ) {
    if (user_id === this.caller_id || !this.members.has(user_id)) return
    const items = this.itemsOf(user_id)
    const subject_id = about.card_id ?? this.board_id
    const known = items.get(subject_id)
    const unread = known?.isRead === false ? known : undefined
    items.set(subject_id, {
      ...about,
      reason: unread?.reason === 'mentioned' ? 'mentioned' : about.reason,
      comment_id: about.comment_id ?? unread?.comment_id ?? null,
      count: (unread?.count ?? 0) + 1,
      ...{ board_id: this.board_id, actor_id, changed_at, isRead: false },
    })
    this.happened[unread ? 'gathered' : 'notified']++
  }

  /** Only what was not read, and where nothing else happened since. */
  private withdraw(
    user_id: string,
    { reason, card_id, comment_id }: Pick<ModelItem, 'reason' | 'card_id' | 'comment_id'>,
  ) {
    const items = this.itemsOf(user_id)
    const item = items.get(card_id ?? this.board_id)
    if (!item || item.isRead || item.count > 1 || item.reason !== reason || item.comment_id !== comment_id) return
    items.delete(card_id ?? this.board_id)
    this.happened.withdrawn++
  }

  private itemsOf(user_id: string): Map<string, ModelItem> {
    const items = this.items.get(user_id) ?? new Map<string, ModelItem>()
    this.items.set(user_id, items)
    return items
  }
}
