import type { Position } from '../../../client/src/live/core.ts'
import { isPossible } from '../../../client/src/live/predict.ts'
import type { BoardEvent, BoardMember, Change, FullBoard } from '../../../client/src/live/types.ts'

/** Tiny on purpose: neighbours have to make room all the time. */
const GAP = 4
const AT = '2026-01-01T00:00:00.000Z'

interface Thing {
  id: string
  rank: number
  [field: string]: unknown
}
export interface Place {
  position?: number | null
  after_id?: string | null
}
type Input = Place & Record<string, unknown> & { id?: string }
export interface Logged {
  event: BoardEvent
  /** The request that it answers, and whether it is what the user asked for: not room made for it, nor a rule's doing. */
  key: string
  is_own: boolean
}
export type Answer =
  | { ok: true; seq: number; epoch: number; emitted: number }
  | { ok: false; status: number; code: string }

/** Much faster than structuredClone for small plain things. */
export const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export class Refused extends Error {}
const STATUSES: Record<string, number> = { id_taken: 409, precondition_failed: 412 }

/**
 * Whether a change that was made on the board at a position, and never happened, could not have happened: what it needs
 * never was there, or did not stay. Of another epoch nothing is known.
 */
export function wasImpossible(server: ModelServer, change: Change, { epoch, seq }: Position): boolean {
  if (epoch !== server.epoch) return true
  const states = server.history.slice(seq).map((board) => isPossible(board, change))
  return states.indexOf(false, states.indexOf(true)) >= 0
}

/**
 * The service as its rules describe it, without a network: one change after the other, numbers, ranks with room made by
 * moved events, two automation rules, idempotency keys. Written apart from the client, so that the two can disagree.
 */
export class ModelServer {
  board: FullBoard
  epoch = 1
  /** Where the epoch began. */
  first_seq = 0
  log: Logged[] = []
  /** The board at every number. */
  history: FullBoard[]
  /** How often each key had an effect. */
  readonly applied = new Map<string, number>()
  /** The keys that ever had one, also in what a restored backup does not have. */
  readonly ever_applied = new Set<string>()
  private answers = new Map<string, Extract<Answer, { ok: true }>>()
  private readonly announcesRoom: boolean
  private request = { key: '', user_id: '' }

  constructor(members: BoardMember[], announcesRoom = true) {
    const user_id = members[0]?.user_id ?? ''
    this.announcesRoom = announcesRoom
    const about = { id: 'board', title: 'Board', description: null, created_by: user_id, updated_by: user_id }
    this.board = { ...about, labels: [], members, columns: [] }
    this.history = [clone(this.board)]
  }

  get seq() {
    return this.log.length
  }

  /** The events behind a number, as many as a page holds; undefined when they are no longer kept. */
  eventsAfter(epoch: number, seq: number, limit: number): BoardEvent[] | undefined {
    return epoch === this.epoch ? this.log.slice(seq, seq + limit).map(({ event }) => event) : undefined
  }

  /** A card as it is, and the name of this state of it. */
  card(card_id: unknown) {
    const { item } = this.get('card', card_id)
    return { card: clone(item), etag: JSON.stringify(item) }
  }

  execute(user_id: string, key: string, { name, input }: Change, if_match?: string): Answer {
    const known = this.answers.get(key)
    if (known) return known
    this.request = { key, user_id }
    const before = this.seq
    try {
      if (if_match !== undefined && if_match !== '*' && this.card((input as Input)['card_id']).etag !== if_match)
        throw new Refused('precondition_failed')
      this.run(name, input as Input)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { ok: false, status: STATUSES[error.message] ?? 404, code: error.message }
    }
    this.applied.set(key, (this.applied.get(key) ?? 0) + 1)
    this.ever_applied.add(key)
    const answer = { ok: true, seq: this.seq, epoch: this.epoch, emitted: this.seq - before } as const
    this.answers.set(key, answer)
    return answer
  }

  /** A backup is put back: numbers will be given a second time, under a new epoch. */
  restore(seq: number) {
    for (const [key, answer] of this.answers) {
      if (answer.epoch === this.epoch && answer.seq <= seq) continue
      this.answers.delete(key)
      this.applied.delete(key)
    }
    this.epoch++
    this.first_seq = seq
    this.board = clone(this.history[seq] as FullBoard)
    this.log.length = seq
    this.history.length = seq + 1
  }

  /** Everything of a kind, with the list in which it stands. */
  private *all(kind: string): Generator<{ item: Thing; list: Thing[]; parent: string }> {
    const { columns, labels } = this.board as unknown as { columns: Thing[]; labels: Thing[] }
    const each = function* (parents: Thing[], key: string) {
      for (const parent of parents) {
        const list = parent[key] as Thing[]
        for (const item of [...list]) yield { item, list, parent: parent.id }
      }
    }
    const cards = columns.flatMap((column) => column['cards'] as Thing[])
    const checklists = cards.flatMap((card) => card['checklists'] as Thing[])
    if (kind === 'column') for (const item of [...columns]) yield { item, list: columns, parent: this.board.id }
    if (kind === 'label') for (const item of [...labels]) yield { item, list: labels, parent: this.board.id }
    if (kind === 'card') yield* each(columns, 'cards')
    if (kind === 'checklist') yield* each(cards, 'checklists')
    if (kind === 'item') yield* each(checklists, 'items')
    if (kind === 'attachment') yield* each(cards, 'attachments')
  }

  get(kind: string, id: unknown) {
    for (const found of this.all(kind)) if (found.item.id === id) return found
    throw new Refused(`${kind}_not_found`)
  }

  emit(type: string, data: unknown, is_own = true, user_id: string | null = this.request.user_id) {
    const seq = this.seq + 1
    const event = { type, data: clone(data), seq, user_id: is_own ? user_id : null, timestamp: AT, version: '1.0' }
    this.log.push({ event: event as unknown as BoardEvent, key: this.request.key, is_own })
    this.history.push(clone(this.board))
  }

  private run(name: string, input: Input) {
    const [, verb = '', what = ''] = /^([a-z]+)([A-Z]\w+)$/.exec(name) ?? []
    const kind = what.toLowerCase()
    const event = kind === 'item' ? 'checklist_item' : kind
    if (name === 'updateBoard') {
      Object.assign(this.board, input, { updated_by: this.request.user_id })
      const { columns: _, ...board } = this.board
      return this.emit('board.updated', board)
    }
    if (what === 'CardLabel') return this.changeLabel(verb, input)
    if (verb === 'create') return this.create(kind, event, input)
    const { item, list, parent } = this.get(kind, input[`${kind}_id`])
    if (verb === 'update') {
      const { [`${kind}_id`]: _, ...changes } = input
      if (Object.entries(changes).every(([key, value]) => item[key] === value)) return
      Object.assign(item, changes)
      if (kind === 'label')
        for (const card of this.all('card'))
          for (const label of card.item['labels'] as Thing[]) if (label.id === item.id) Object.assign(label, changes)
      this.touch(kind, item)
      return this.emit(`${event}.updated`, item)
    }
    if (verb === 'delete') {
      const last = clone(item)
      list.splice(list.indexOf(item), 1)
      if (kind === 'label')
        for (const { item: card } of this.all('card'))
          card['labels'] = (card['labels'] as Thing[]).filter(({ id }) => id !== item.id)
      return this.emit(`${event}.deleted`, last)
    }
    if (verb === 'move') {
      const key = { card: 'column_id', item: 'checklist_id' }[kind]
      const target = key && input[key] != null ? this.parentList(kind, input[key]) : list
      const to = key && input[key] != null ? (input[key] as string) : parent
      const wasElsewhere = to !== parent
      this.placeIn(event, list, target, item, input, `${event}.moved`)
      if (kind === 'card' && wasElsewhere && to === 'column-b') this.follow(item)
      return
    }
    this.changeAssignees(verb, event, item, input)
  }

  private parentList(kind: string, parent_id: unknown): Thing[] {
    const [of, key] = { card: ['column', 'cards'], item: ['checklist', 'items'], checklist: ['card', 'checklists'] }[
      kind
    ] as [string, string]
    return this.get(of, parent_id).item[key] as Thing[]
  }

  private create(kind: string, event: string, input: Input) {
    const lists = { labels: [], assignees: [], checklists: [], attachments: [] }
    const { id = '', title, name, content, description = null, color = '#6b7280' } = input
    const { column_id, card_id, checklist_id } = input
    const board_id = this.board.id
    const made: Record<string, object> = {
      column: { id, board_id, title, rank: 0, color, is_done_column: input['is_done_column'] ?? false, cards: [] },
      card: { id, column_id, title, description, rank: 0, ...lists, created_at: AT, updated_at: AT },
      checklist: { id, card_id, title, rank: 0, items: [] },
      item: { id, checklist_id, content, rank: 0, is_done: false, assignees: [] },
      label: { id, board_id, name, color },
    }
    const { columns, labels } = this.board as unknown as { columns: Thing[]; labels: Thing[] }
    const parent_id = column_id ?? card_id ?? checklist_id
    const list = kind === 'column' ? columns : kind === 'label' ? labels : this.parentList(kind, parent_id)
    for (const { item } of this.all(kind)) if (item.id === id) throw new Refused('id_taken')
    const item = made[kind] as Thing
    if (kind !== 'label') return this.placeIn(event, [], list, item, input, `${event}.created`)
    list.push(item)
    this.emit('label.created', item)
  }

  /**
   * Finds the rank of an item in a list, tells who makes room while the item still stands where it was, then puts it
   * there and tells of it.
   */
  private placeIn(event: string, from: Thing[], to: Thing[], item: Thing, place: Place, type: string, isOwn = true) {
    const others = to.filter((other) => other !== item)
    const index = placeOf(others, place)
    const [low, high] = [others[index - 1]?.rank, others[index]?.rank]
    let rank = low === undefined ? (high ?? GAP * 2) - GAP : high === undefined ? low + GAP : low + ((high - low) >> 1)
    if (rank === low) {
      const wanted = others.map((other, i) => ({ other, rank: (i + (i >= index ? 2 : 1)) * GAP }))
      const up = wanted.filter(({ other, rank: next }) => next > other.rank).reverse()
      const down = wanted.filter(({ other, rank: next }) => next < other.rank)
      for (const { other, rank: next } of [...up, ...down]) {
        other.rank = next
        to.sort(byRank)
        if (this.announcesRoom) this.emit(`${event}.moved`, other, false)
      }
      rank = (index + 1) * GAP
    }
    item.rank = rank
    if (from.includes(item)) from.splice(from.indexOf(item), 1)
    to.push(item)
    to.sort(byRank)
    this.touch(event, item)
    const parent = { card: 'column_id', checklist_item: 'checklist_id' }[event]
    if (parent) item[parent] = this.parentOf(event === 'card' ? 'card' : 'item', item.id)
    this.emit(type, item, isOwn)
  }
  private parentOf(kind: string, id: string) {
    return this.get(kind, id).parent
  }

  private touch(kind: string, item: Thing) {
    if (kind === 'card') item['updated_at'] = new Date(Date.parse(AT) + this.seq * 1_000).toISOString()
  }

  private changeLabel(verb: string, { card_id, label_id }: Input) {
    const { item: card } = this.get('card', card_id)
    const { item: label } = this.get('label', label_id)
    const labels = card['labels'] as Thing[]
    const isThere = labels.some(({ id }) => id === label_id)
    if (isThere === (verb === 'add')) return
    card['labels'] = isThere ? labels.filter(({ id }) => id !== label_id) : [...labels, { ...label }]
    this.touch('card', card)
    this.emit(isThere ? 'card.unlabeled' : 'card.labeled', card)
    // The second rule: whoever bears this label belongs to the first member.
    const member = this.board.members[0]
    if (isThere || label_id !== 'label-a' || !member) return
    const assignees = card['assignees'] as { id: string }[]
    if (assignees.some(({ id }) => id === member.user_id)) return
    card['assignees'] = [...assignees, member.user]
    this.touch('card', card)
    this.emit('card.assigned', card, false)
  }

  private changeAssignees(verb: string, event: string, item: Thing, input: Input) {
    const assignees = item['assignees'] as { id: string }[]
    if (verb === 'assign') {
      const user_ids = [...new Set(input['user_ids'] as string[])]
      const users = this.board.members.filter(({ user_id }) => user_ids.includes(user_id)).map(({ user }) => user)
      if (users.length < user_ids.length) throw new Refused('user_not_found')
      users.sort((a, b) => user_ids.indexOf(a.id) - user_ids.indexOf(b.id))
      item['assignees'] = [...assignees, ...users.filter(({ id }) => assignees.every((other) => other.id !== id))]
      this.touch(event, item)
      for (const _ of user_ids) this.emit(`${event}.assigned`, item)
      return
    }
    if (assignees.every(({ id }) => id !== input['user_id'])) return
    item['assignees'] = assignees.filter(({ id }) => id !== input['user_id'])
    this.touch(event, item)
    this.emit(`${event}.unassigned`, item)
  }

  /** The first rule: what comes into column b goes on to the end of column c. */
  private follow(card: Thing) {
    const [from, to] = [this.columnCards('column-b'), this.columnCards('column-c')]
    if (!from || !to) return
    this.placeIn('card', from, to, card, {}, 'card.moved', false)
  }
  private columnCards(id: string) {
    return this.board.columns.find((column) => column.id === id)?.cards as unknown as Thing[] | undefined
  }
}

const byRank = (a: Thing, b: Thing) => a.rank - b.rank || (a.id < b.id ? -1 : 1)

/** Where an item goes in a list without it. */
export function placeOf(list: readonly { id: string }[], { position, after_id }: Place): number {
  if (after_id === null) return 0
  if (after_id !== undefined) {
    const index = list.findIndex(({ id }) => id === after_id)
    if (index >= 0) return index + 1
  }
  return position == null ? list.length : Math.min(position, list.length)
}
