import { applyEvent } from './fold.ts'
import { eventModel, modelOf, subjectOf } from './model.ts'
import { conflictOf, isDoneBy, isPossible, predict, withAnchor } from './predict.ts'
import { find, get, type Item, share } from './tree.ts'
import type { BoardEvent, Change, ExpectedFields, FullBoard } from './types.ts'
import { inverse } from './undo.ts'

/** A version of a board: `<epoch>.<seq>` on the wire. */
export interface Position {
  epoch: number
  seq: number
}
/** A change of the user that the base does not contain yet. */
export interface Pending {
  /** Idempotency key: the server applies each key once. */
  key: string
  change: Change
  /** Reject the change if these fields have other values. */
  expected?: ExpectedFields | undefined
  /** When the user made the change. */
  at: string
  /** The login under which the user made it, if logins are known. */
  login?: string | undefined
  /** The position that the change is based on. An older board cannot decide whether it is possible. */
  base: Position
  state: 'queued' | 'sent' | 'accepted'
  /** How often it was sent. After the first time, only the server knows whether it was applied. */
  attempts: number
  /** Whether another tab of the user may have sent it as well. */
  isShared: boolean
  /** The base already contains it although no response has arrived: do not apply it again. */
  isReflected: boolean
  /** The position from which the base contains it, once it is accepted. */
  position: Position | undefined
}
export interface Problem {
  status: number
  code: string
  detail: string
}
/** A change that failed, with the text that the user wrote. */
export interface FailedChange {
  key: string
  change: Change
  /** `rejected` by the server, its target is `gone`, or it would overwrite someone else's text (`conflict`). */
  reason: 'rejected' | 'gone' | 'conflict'
  problem: Problem | undefined
  /** For a conflict: the current values of the expected fields. */
  current: ExpectedFields | undefined
  /** The text in the change, so that nothing typed is lost. */
  text: string
}
/**
 * A pending change as it is stored. With a position it is already accepted, but an older stored board may not contain
 * it.
 */
export type QueuedChange = Pick<
  Pending,
  'key' | 'change' | 'expected' | 'at' | 'login' | 'base' | 'attempts' | 'position'
>

/** A new change, an undo or a redo. */
export type ChangeMode = 'new' | 'undo' | 'redo'
/** An entry of the undo and redo stacks. */
interface UndoStep {
  /** Keys of the change and of its undo changes. If one of them fails, the step is removed. */
  keys: string[]
  change: Change
  expected: ExpectedFields | undefined
  inverse: Change[]
}

/** Above this number of buffered events, the whole board is loaded instead. */
const MAX_OUT_OF_ORDER = 1_000
const MAX_UNDO = 100

/**
 * State of a live board: the server's board at an exact position (the base) and the user's pending changes, which are
 * rebased onto it (optimistic updates). The view is derived, never stored. Pure: it has no clock and no network; the
 * caller reports what happened and asks what to do.
 */
export class BoardCore {
  base: FullBoard | undefined
  position: Position = { epoch: 0, seq: 0 }
  /** The latest position that is known to exist. */
  head: Position = { epoch: 0, seq: 0 }
  pending: Pending[] = []
  failedChanges: FailedChange[] = []
  /** The user, once known. Only events of this user can confirm pending changes. */
  userId: string | undefined
  isDeleted = false
  /** Called for every event applied to the base, in order; with undefined when the base jumps. */
  onEvent: ((event: BoardEvent | undefined, isOwn: boolean) => void) | undefined
  /** Reorder buffer: events of one epoch that arrived before their predecessors. */
  #outOfOrder = new Map<number, BoardEvent>()
  #outOfOrderEpoch = 0
  #undos: UndoStep[] = []
  #redos: UndoStep[] = []
  #rendered: FullBoard | undefined
  #isStale = false

  constructor(queued: readonly QueuedChange[] = []) {
    this.addQueued(queued)
  }

  /** Adds changes from the stored queue. Idempotency keys make it safe to send them from several tabs. */
  addQueued(queued: readonly QueuedChange[]) {
    for (const each of queued) {
      const known = this.#find(each.key)
      if (!known)
        this.pending.push({
          ...each,
          state: each.position ? 'accepted' : 'queued',
          isReflected: false,
          isShared: false,
        })
      else if (known.state === 'queued') Object.assign(known, mergeQueued(known, each))
    }
    this.#prune()
  }

  /** Another tab may have sent these changes, so only the server knows whether they were applied. */
  markShared(keys: readonly string[]) {
    for (const operation of this.pending) operation.isShared ||= keys.includes(operation.key)
  }

  /** The board to show: the base with the pending changes applied. Unchanged parts keep their object identity. */
  get view(): FullBoard | undefined {
    this.#rebase()
    return this.#rendered
  }

  /** What must be fetched: the events after the base, or the whole board. */
  get missing(): 'nothing' | 'events' | 'board' {
    if (!this.base || this.head.epoch !== this.position.epoch || this.#outOfOrder.size > MAX_OUT_OF_ORDER)
      return 'board'
    return this.head.seq > this.position.seq ? 'events' : 'nothing'
  }

  /** Replaces the base, unless the given board is older. */
  load(board: FullBoard, position: Position) {
    if (this.base && isBefore(position, this.position)) return
    if (this.base && isBefore(this.position, position)) this.onEvent?.(undefined, false)
    this.base = share(this.base, board)
    this.position = position
    this.observePosition(position)
    this.#applyInOrder()
  }

  /** Receives an event. Events may arrive in any order and repeatedly. */
  receive(event: BoardEvent, epoch: number) {
    this.observePosition({ epoch, seq: event.seq })
    if (epoch < this.head.epoch) return
    if (epoch !== this.#outOfOrderEpoch) this.#outOfOrder.clear()
    this.#outOfOrderEpoch = epoch
    this.#outOfOrder.set(event.seq, event)
    if (this.base) this.#applyInOrder()
  }

  /** A hello, a ping or a response named this position, so it exists. */
  observePosition(position: Position) {
    if (isBefore(this.head, position)) this.head = position
  }

  /** Adds a change of the user: visible immediately, sent later. */
  change(key: string, change: Change, at: string, mode: ChangeMode = 'new', expected?: ExpectedFields, login?: string) {
    const before = this.view
    const resolved = before ? withAnchor(before, change) : change
    if (mode === 'undo') this.#redos.at(-1)?.keys.push(key)
    else this.#pushUndo({ keys: [key], change: resolved, expected, inverse: before ? inverse(before, change) : [] })
    // A new change clears the redo stack.
    if (mode === 'new') this.#redos = []
    const base = this.pending.reduce((known, { position }) => laterOf(known, position), this.position)
    const operation: Pending = {
      key,
      change: resolved,
      expected,
      at,
      login,
      base,
      state: 'queued',
      attempts: 0,
      isShared: false,
      isReflected: false,
      position: undefined,
    }
    this.pending.push(operation)
    // Apply it on top of the current view instead of rebasing everything.
    if (!before || this.isDeleted || !isPossible(before, resolved) || conflictIn(before, operation))
      this.#isStale = true
    else this.#rendered = share(before, predict(before, resolved, at))
  }

  /** The changes that undo the user's last change, or the one with this key. Pass them to `change`. */
  undo(key?: string): Change[] {
    const step = this.#undos.findLast(({ keys }) => !key || keys.includes(key))
    if (!step) return []
    this.#undos = this.#undos.filter((each) => each !== step)
    this.#redos.push(step)
    return step.inverse
  }

  /** The text that an undo is about to replace. If another text is there by then, someone else wrote it. */
  expectedForUndo({ name }: Change): ExpectedFields | undefined {
    if (name !== 'updateCard') return undefined
    const { card_id: _, ...expected } = (this.#redos.at(-1) as UndoStep).change.input as ExpectedFields & {
      card_id: string
    }
    return expected
  }

  /** The change that was undone last. Pass it to `change`. */
  redo(): Pick<UndoStep, 'change' | 'expected'> | undefined {
    return this.#redos.pop()
  }

  get canUndo(): boolean {
    return this.#undos.length > 0
  }

  get canRedo(): boolean {
    return this.#redos.length > 0
  }

  /** The next change to send. Changes are sent one at a time, because a card must exist before it is moved. */
  next(): Pending | undefined {
    this.#rebase()
    const first = this.pending.find(({ state }) => state !== 'accepted')
    return first?.state === 'queued' ? first : undefined
  }

  markSent(key: string) {
    const operation = this.#find(key)
    if (!operation) return
    operation.state = 'sent'
    operation.attempts++
  }

  /** No response: unknown whether it was applied. It is sent again with the same key. */
  requeue(key: string) {
    const operation = this.#find(key)
    if (operation?.state === 'sent') operation.state = 'queued'
  }

  /**
   * The server applied the change; the base will contain it at this position. Until then it stays on top of the base,
   * so that nothing flickers.
   */
  accept(key: string, position: Position) {
    const operation = this.#find(key)
    if (!operation) return
    operation.state = 'accepted'
    operation.position = position
    // Later changes may depend on it.
    for (const other of this.pending) other.base = laterOf(other.base, position)
    this.observePosition(position)
    this.#prune()
  }

  /** The server rejected the change. Removing it rolls back its effect; its text is kept. */
  reject(key: string, problem: Problem) {
    const operation = this.#find(key)
    if (!operation) return
    // It was sent before and the response was lost: the id exists because the change was applied.
    const wasApplied = problem.code === 'id_taken' && operation.attempts > 1
    this.#drop(operation, wasApplied ? undefined : 'rejected', problem)
  }

  /** Someone else changed the expected fields, so the change is not sent. */
  conflict(key: string, current: ExpectedFields) {
    const operation = this.#find(key)
    if (operation) this.#drop(operation, 'conflict', undefined, current)
  }

  /** The user drops a change. If the server applied it after all, the base will contain it. */
  discard(key: string) {
    const operation = this.#find(key)
    if (operation && operation.state !== 'accepted') this.#drop(operation)
  }

  dismiss(key: string) {
    this.failedChanges = this.failedChanges.filter((failed) => failed.key !== key)
  }

  #pushUndo(step: UndoStep) {
    if (step.inverse.length > 0) this.#undos = [...this.#undos, step].slice(-MAX_UNDO)
  }

  #find(key: string) {
    return this.pending.find((operation) => operation.key === key)
  }

  /** Applies buffered events as long as there is no gap. */
  #applyInOrder() {
    if (this.#outOfOrderEpoch !== this.position.epoch) return this.#prune()
    for (const seq of this.#outOfOrder.keys()) if (seq <= this.position.seq) this.#outOfOrder.delete(seq)
    for (;;) {
      const event = this.#outOfOrder.get(this.position.seq + 1)
      if (!event) break
      this.#outOfOrder.delete(event.seq)
      this.#apply(event)
    }
    this.#prune()
  }

  #apply(event: BoardEvent) {
    const before = this.base as FullBoard
    this.base = applyEvent(before, event)
    this.position = { epoch: this.position.epoch, seq: event.seq }
    if (event.type === 'board.deleted') this.isDeleted = true
    this.onEvent?.(event, this.#isOwn(event))
    this.#markReflected(event, before)
    this.#isStale = true
    // In the same step, so that an accepted change is never shown twice or not at all.
    this.#prune()
  }

  /** Whether a change of this core caused the event. A heuristic: the log does not contain idempotency keys. */
  #isOwn(event: BoardEvent): boolean {
    return this.#isOfUser(event) && this.pending.some(({ attempts, change }) => attempts > 0 && isDoneBy(change, event))
  }

  #isOfUser({ user_id }: BoardEvent): boolean {
    return user_id !== null && user_id === (this.userId ?? user_id)
  }

  /**
   * Matches an event of the user with the change in flight, before its response arrives: later changes by others then
   * show immediately. If the event came from another tab, the base contains the same anyway.
   */
  #markReflected(event: BoardEvent, before: FullBoard) {
    const operation = this.pending.find(({ state }) => state !== 'accepted')
    if (!operation || operation.attempts === 0 || operation.isReflected) return
    if (!this.#isOfUser(event)) return
    const { type, data } = event
    const { change, at } = operation
    const after = this.base as FullBoard
    // A move to the same position also emits an event.
    const isMove = eventModel(type)?.verb === 'move' && get(data, 'id') === subjectOf(change).id
    operation.isReflected = (isMove || predict(before, change, at) !== before) && predict(after, change, at) === after
  }

  /** Removes accepted changes that the base now contains. */
  #prune() {
    this.pending = this.pending.filter(({ position }) => !position || isBefore(this.position, position))
    this.#isStale = true
  }

  /** Rebase: applies the pending changes to the base, and drops those that have become impossible. */
  #rebase() {
    if (!this.#isStale || !this.base) return
    this.#isStale = false
    let board = this.base
    const deleted = new Map<string, Item>()
    for (const operation of this.pending) {
      const { at, base, isReflected, attempts, isShared } = operation
      if (isReflected) continue
      // A restore brings back what the pending deletion removes now, not what it removed when the user made it.
      const change = withItem(operation.change, deleted)
      operation.change = change
      // The server decides about changes that were sent or that are based on a newer board.
      const isDecidable = attempts === 0 && !isShared && !isBefore(this.position, base)
      const current = isDecidable && conflictIn(board, operation)
      if (current) this.#drop(operation, 'conflict', undefined, current)
      else if (!this.isDeleted && isPossible(board, change)) {
        const { verb, id, model } = subjectOf(change)
        const found = verb === 'delete' && find(board, model?.path ?? [], id)
        if (found) deleted.set(id, found.item)
        board = predict(board, change, at)
      } else if (isDecidable) this.#drop(operation, isDeletion(change) ? undefined : 'gone')
    }
    this.#isStale = false
    this.#rendered = share(this.#rendered, board)
  }

  #drop(operation: Pending, reason?: FailedChange['reason'], problem?: Problem, current?: ExpectedFields) {
    const { key, change } = operation
    this.pending = this.pending.filter((other) => other !== operation)
    this.#undos = this.#undos.filter(({ keys }) => !keys.includes(key))
    this.#redos = this.#redos.filter(({ keys }) => !keys.includes(key))
    this.#isStale = true
    const isAlreadyGone = isDeletion(change) && problem?.status === 404
    if (reason && !isAlreadyGone)
      this.failedChanges = [...this.failedChanges, { key, change, reason, problem, current, text: textOf(change) }]
  }
}

/** The stored form of a pending change. */
export function toQueued(pending: Pending): QueuedChange {
  const { state: _, isShared: __, isReflected: ___, ...queued } = pending
  return queued
}

/** Merges what another tab knows about a queued change. */
const mergeQueued = (known: Pending, { attempts, base, position }: QueuedChange): Partial<Pending> => ({
  attempts: Math.max(known.attempts, attempts),
  base: laterOf(known.base, base),
  ...(position && { position, state: 'accepted' }),
})

/** The fields on which a conditional change conflicts with a board. */
const conflictIn = (board: FullBoard, operation: Pending) =>
  operation.expected && conflictOf(operation, find(board, modelOf('card').path, subjectOf(operation.change).id)?.item)

/** A restore with the item that an earlier pending change deletes, if there is one. */
function withItem(change: Change, deleted: ReadonlyMap<string, Item>): Change {
  const item = deleted.get(subjectOf(change).id)
  return item && change.restores ? ({ ...change, restores: { ...change.restores, item } } as Change) : change
}

export const isBefore = (a: Position, b: Position) => a.epoch < b.epoch || (a.epoch === b.epoch && a.seq < b.seq)
export const laterOf = (a: Position, b: Position | undefined) => (b && isBefore(a, b) ? b : a)

/** Deleting something that is already gone counts as success. */
const isDeletion = (change: Change) => ['delete', 'unlink', 'unassign'].includes(subjectOf(change).verb)

/** The text that the user typed, in one piece. */
function textOf(change: Change): string {
  const { model, fields, item = fields } = subjectOf(change)
  const texts = model?.texts.map((name) => get(item, name)) ?? []
  return texts.filter((text) => typeof text === 'string').join('\n\n')
}
