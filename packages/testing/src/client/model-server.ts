import type { Position } from '../../../client/src/live/core.ts'
import { isPossible } from '../../../client/src/live/predict.ts'
import type { BoardEvent, BoardMember, Change, FullBoard } from '../../../client/src/live/types.ts'

/** Small on purpose, so that neighbours often have to be moved to make room. */
const GAP = 4
const AT = '2026-01-01T00:00:00.000Z'

interface ModelItem {
  id: string
  rank: number
  [field: string]: unknown
}
export interface ListPosition {
  position?: number | null
  after_id?: string | null
}
type Input = ListPosition & Record<string, unknown> & { id?: string }
export interface Logged {
  event: BoardEvent
  /**
   * The idempotency key of the request that caused the event, and whether the user asked for it (not a moved
   * neighbour or a rule).
   */
  key: string
  isOwn: boolean
}
export type ModelResponse =
  | { ok: true; seq: number; epoch: number; emitted: number }
  | { ok: false; status: number; code: string }

/** Much faster than structuredClone for small plain objects. */
export const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export class Rejected extends Error {}
const STATUSES: Record<string, number> = { id_taken: 409, precondition_failed: 412 }

/**
 * Whether a change based on a position, and never applied, could not have been applied: its target never existed or
 * did not stay. Unknown for another epoch.
 */
export function wasImpossible(server: ModelServer, change: Change, { epoch, seq }: Position): boolean {
  if (epoch !== server.epoch) return true
  const states = server.history.slice(seq).map((board) => isPossible(board, change))
  return states.indexOf(false, states.indexOf(true)) >= 0
}

/**
 * Model of the service without a network: serial changes, sequence numbers, ranks with moved neighbours, two
 * automation rules and idempotency keys. Written independently of the client, so that the two can disagree.
 */
export class ModelServer {
  board: FullBoard
  epoch = 1
  /** The sequence number at which the epoch began. */
  firstSeq = 0
  log: Logged[] = []
  /** The board at every sequence number. */
  history: FullBoard[]
  /** How often each idempotency key was applied. */
  readonly applied = new Map<string, number>()
  /** All keys that were ever applied, including those lost by restoring a backup. */
  readonly everApplied = new Set<string>()
  private responses = new Map<string, Extract<ModelResponse, { ok: true }>>()
  private readonly emitsNeighbourMoves: boolean
  private request = { key: '', user_id: '' }
  private lastNumber = 0
  /** Archived and deleted cards and columns, by id. */
  private readonly removed = new Map<string, { kind: string; as: string; item: ModelItem }>()

  constructor(members: BoardMember[], announcesRoom = true) {
    const user_id = members[0]?.user_id ?? ''
    this.emitsNeighbourMoves = announcesRoom
    const about = { id: 'board', title: 'Board', description: null, created_by: user_id, updated_by: user_id }
    this.board = { ...about, labels: [], members, archived_at: null, columns: [] }
    this.history = [clone(this.board)]
  }

  get seq() {
    return this.log.length
  }

  /** A page of the events after a position; undefined if they are no longer kept. */
  eventsAfter(epoch: number, seq: number, limit: number): BoardEvent[] | undefined {
    return epoch === this.epoch ? this.log.slice(seq, seq + limit).map(({ event }) => event) : undefined
  }

  /** A card and its ETag. */
  card(card_id: unknown) {
    const { item } = this.get('card', card_id)
    return { card: clone(item), etag: JSON.stringify(item) }
  }

  execute(user_id: string, key: string, { name, input }: Change, ifMatch?: string): ModelResponse {
    const known = this.responses.get(key)
    if (known) return known
    this.request = { key, user_id }
    const before = this.seq
    try {
      if (ifMatch !== undefined && ifMatch !== '*' && this.card((input as Input)['card_id']).etag !== ifMatch)
        throw new Rejected('precondition_failed')
      this.run(name, input as Input)
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      return { ok: false, status: STATUSES[error.message] ?? 404, code: error.message }
    }
    this.applied.set(key, (this.applied.get(key) ?? 0) + 1)
    this.everApplied.add(key)
    const response = { ok: true, seq: this.seq, epoch: this.epoch, emitted: this.seq - before } as const
    this.responses.set(key, response)
    return response
  }

  /** Restores a backup: sequence numbers are reused under a new epoch. */
  restore(seq: number) {
    for (const [key, response] of this.responses) {
      if (response.epoch === this.epoch && response.seq <= seq) continue
      this.responses.delete(key)
      this.applied.delete(key)
    }
    this.epoch++
    this.firstSeq = seq
    this.board = clone(this.history[seq] as FullBoard)
    this.log.length = seq
    this.history.length = seq + 1
    for (const kind of ['column', 'card']) for (const { item } of this.all(kind)) this.removed.delete(item.id)
  }

  /** All items of a kind, with their lists. */
  private *all(kind: string): Generator<{ item: ModelItem; list: ModelItem[]; parent: string }> {
    const { columns, labels } = this.board as unknown as { columns: ModelItem[]; labels: ModelItem[] }
    const each = function* (parents: ModelItem[], key: string) {
      for (const parent of parents) {
        const list = parent[key] as ModelItem[]
        for (const item of [...list]) yield { item, list, parent: parent.id }
      }
    }
    const cards = columns.flatMap((column) => column['cards'] as ModelItem[])
    const checklists = cards.flatMap((card) => card['checklists'] as ModelItem[])
    if (kind === 'column') for (const item of [...columns]) yield { item, list: columns, parent: this.board.id }
    if (kind === 'label') for (const item of [...labels]) yield { item, list: labels, parent: this.board.id }
    if (kind === 'card') yield* each(columns, 'cards')
    if (kind === 'checklist') yield* each(cards, 'checklists')
    if (kind === 'item') yield* each(checklists, 'items')
    if (kind === 'attachment') yield* each(cards, 'attachments')
  }

  get(kind: string, id: unknown) {
    for (const found of this.all(kind)) if (found.item.id === id) return found
    throw new Rejected(`${kind}_not_found`)
  }

  emit(type: string, data: unknown, isOwn = true, user_id: string | null = this.request.user_id) {
    const seq = this.seq + 1
    const event = { type, data: clone(data), seq, user_id: isOwn ? user_id : null, timestamp: AT, version: '1.0' }
    this.log.push({ event: event as unknown as BoardEvent, key: this.request.key, isOwn })
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
    if (name === 'restoreRemoved') return this.restoreRemoved(input)
    const { item, list, parent } = this.get(kind, input[`${kind}_id`])
    if (verb === 'update') {
      const { [`${kind}_id`]: _, ...changes } = input
      if (Object.entries(changes).every(([key, value]) => item[key] === value)) return
      Object.assign(item, changes)
      if (kind === 'label')
        for (const card of this.all('card'))
          for (const label of card.item['labels'] as ModelItem[])
            if (label.id === item.id) Object.assign(label, changes)
      this.touch(kind, item)
      return this.emit(`${event}.updated`, item)
    }
    if (verb === 'delete' || verb === 'archive') {
      const last = clone(item)
      if (kind === 'card' || kind === 'column') this.removed.set(item.id, { kind, as: verb, item: clone(item) })
      list.splice(list.indexOf(item), 1)
      if (kind === 'label')
        for (const { item: card } of this.all('card'))
          card['labels'] = (card['labels'] as ModelItem[]).filter(({ id }) => id !== item.id)
      return this.emit(`${event}.deleted`, last)
    }
    if (verb === 'move') {
      const key = { card: 'column_id', item: 'checklist_id' }[kind]
      const target = key && input[key] != null ? this.parentList(kind, input[key]) : list
      const to = key && input[key] != null ? (input[key] as string) : parent
      const isOtherColumn = to !== parent
      this.insertInto(event, list, target, item, input, `${event}.moved`)
      if (kind === 'card' && isOtherColumn && to === 'column-b') this.moveByRule(item)
      return
    }
    this.changeAssignees(verb, event, item, input)
  }

  private parentList(kind: string, parent_id: unknown): ModelItem[] {
    const [of, key] = { card: ['column', 'cards'], item: ['checklist', 'items'], checklist: ['card', 'checklists'] }[
      kind
    ] as [string, string]
    return this.get(of, parent_id).item[key] as ModelItem[]
  }

  private create(kind: string, event: string, input: Input) {
    const lists = { labels: [], assignees: [], checklists: [], attachments: [] }
    const { id = '', title, name, content, description = null, due_on = null, color = '#6b7280' } = input
    const { column_id, card_id, checklist_id } = input
    const board_id = this.board.id
    const times = { created_at: AT, updated_at: AT }
    const number = kind === 'card' ? ++this.lastNumber : 0
    const made: Record<string, object> = {
      column: { id, board_id, title, rank: 0, color, is_done_column: input['is_done_column'] ?? false, cards: [] },
      card: { id, column_id, title, description, rank: 0, ...lists, ...times, number, due_on, comment_count: 0 },
      checklist: { id, card_id, title, rank: 0, items: [] },
      item: { id, checklist_id, content, rank: 0, is_done: false, assignees: [] },
      label: { id, board_id, name, color },
    }
    const { columns, labels } = this.board as unknown as { columns: ModelItem[]; labels: ModelItem[] }
    const parent_id = column_id ?? card_id ?? checklist_id
    const list = kind === 'column' ? columns : kind === 'label' ? labels : this.parentList(kind, parent_id)
    for (const { item } of this.all(kind)) if (item.id === id) throw new Rejected('id_taken')
    // A deleted one gets another id, so that its own can be used again.
    const namesake = this.removed.get(id as string)
    if (namesake?.as === 'archive') throw new Rejected('id_taken')
    this.removed.delete(id as string)
    const item = made[kind] as ModelItem
    if (kind !== 'label') return this.insertInto(event, [], list, item, input, `${event}.created`)
    list.push(item)
    this.emit('label.created', item)
  }

  /** Puts an archived or deleted card or column back, with the labels that exist now. */
  private restoreRemoved(input: Input) {
    const id = input['removed_id'] as string
    const { kind, item } = this.removed.get(id) ?? {}
    if (!kind || !item) throw new Rejected('removed_not_found')
    const { columns, labels } = this.board as unknown as { columns: ModelItem[]; labels: ModelItem[] }
    const list = kind === 'column' ? columns : this.parentList('card', input['column_id'] ?? item['column_id'])
    for (const card of kind === 'column' ? (item['cards'] as ModelItem[]) : [item])
      card['labels'] = (card['labels'] as ModelItem[]).flatMap((old) =>
        labels.filter((label) => label.id === old.id).map(clone),
      )
    this.removed.delete(id)
    this.insertInto(kind, [], list, item, input, `${kind}.created`)
  }

  /**
   * Finds the rank of an item in a list, emits the moves of neighbours first, then inserts the item and emits its
   * event.
   */
  private insertInto(
    event: string,
    from: ModelItem[],
    to: ModelItem[],
    item: ModelItem,
    position: ListPosition,
    type: string,
    isOwn = true,
  ) {
    const others = to.filter((other) => other !== item)
    const index = indexFor(others, position)
    const [low, high] = [others[index - 1]?.rank, others[index]?.rank]
    let rank = low === undefined ? (high ?? GAP * 2) - GAP : high === undefined ? low + GAP : low + ((high - low) >> 1)
    if (rank === low) {
      const wanted = others.map((other, i) => ({ other, rank: (i + (i >= index ? 2 : 1)) * GAP }))
      const up = wanted.filter(({ other, rank: next }) => next > other.rank).reverse()
      const down = wanted.filter(({ other, rank: next }) => next < other.rank)
      for (const { other, rank: next } of [...up, ...down]) {
        other.rank = next
        to.sort(byRank)
        if (this.emitsNeighbourMoves) this.emit(`${event}.moved`, other, false)
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

  private touch(kind: string, item: ModelItem) {
    if (kind === 'card') item['updated_at'] = new Date(Date.parse(AT) + this.seq * 1_000).toISOString()
  }

  private changeLabel(verb: string, { card_id, label_id }: Input) {
    const { item: card } = this.get('card', card_id)
    const { item: label } = this.get('label', label_id)
    const labels = card['labels'] as ModelItem[]
    const hasLabel = labels.some(({ id }) => id === label_id)
    if (hasLabel === (verb === 'add')) return
    card['labels'] = hasLabel ? labels.filter(({ id }) => id !== label_id) : [...labels, { ...label }]
    this.touch('card', card)
    this.emit(hasLabel ? 'card.unlabeled' : 'card.labeled', card)
    // The second automation rule: cards with this label are assigned to the first member.
    const member = this.board.members[0]
    if (hasLabel || label_id !== 'label-a' || !member) return
    const assignees = card['assignees'] as { id: string }[]
    if (assignees.some(({ id }) => id === member.user_id)) return
    card['assignees'] = [...assignees, member.user]
    this.touch('card', card)
    this.emit('card.assigned', card, false)
  }

  private changeAssignees(verb: string, event: string, item: ModelItem, input: Input) {
    const assignees = item['assignees'] as { id: string }[]
    if (verb === 'assign') {
      const user_ids = [...new Set(input['user_ids'] as string[])]
      const users = this.board.members.filter(({ user_id }) => user_ids.includes(user_id)).map(({ user }) => user)
      if (users.length < user_ids.length) throw new Rejected('user_not_found')
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

  /** The first automation rule: cards moved into column b go on to the end of column c. */
  private moveByRule(card: ModelItem) {
    const [from, to] = [this.columnCards('column-b'), this.columnCards('column-c')]
    if (!from || !to) return
    this.insertInto('card', from, to, card, {}, 'card.moved', false)
  }
  private columnCards(id: string) {
    return this.board.columns.find((column) => column.id === id)?.cards as unknown as ModelItem[] | undefined
  }
}

const byRank = (a: ModelItem, b: ModelItem) => a.rank - b.rank || (a.id < b.id ? -1 : 1)

/** The index for an item in a list that does not contain it. */
export function indexFor(list: readonly { id: string }[], { position, after_id }: ListPosition): number {
  if (after_id === null) return 0
  if (after_id !== undefined) {
    const index = list.findIndex(({ id }) => id === after_id)
    if (index >= 0) return index + 1
  }
  return position == null ? list.length : Math.min(position, list.length)
}
