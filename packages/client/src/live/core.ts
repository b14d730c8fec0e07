import { applyEvent } from './fold.ts'
import { anchored, conflictOf, isDoneBy, isPossible, predict, subjectOf } from './predict.ts'
import { CARDS, find, share } from './tree.ts'
import type { BoardEvent, Change, FullBoard, Guard } from './types.ts'
import { inverse } from './undo.ts'

/** A board's exact state by name: `<epoch>.<seq>` on the wire. */
export interface Position {
  epoch: number
  seq: number
}
/** A change that the user made and that the base does not show yet. */
export interface Pending {
  /** Sent along every time: the server applies a key once. */
  key: string
  change: Change
  /** What it must not overwrite. */
  guard?: Guard | undefined
  /** When the user made it. */
  at: string
  /** The board that it was made on: what it needs is there from this position on. An older board does not decide about it. */
  base: Position
  state: 'queued' | 'sent' | 'accepted'
  /** How often it was sent. Once it was, only the server knows whether it happened. */
  attempts: number
  /** Whether another page of the user may have sent it as well. */
  is_shared: boolean
  /** The base shows it already, although no answer came: it is no longer laid over the base. */
  is_seen: boolean
  /** Where the base must be to show it, once it is accepted. */
  position: Position | undefined
}
export interface Problem {
  status: number
  code: string
  detail: string
}
/** A change that did not come about, with what the user wrote. */
export interface Notice {
  key: string
  change: Change
  /** `rejected` by the server, what it was about is `gone`, or it would overwrite what somebody else wrote (`conflict`). */
  reason: 'rejected' | 'gone' | 'conflict'
  problem: Problem | undefined
  /** At a conflict: what is there, of the fields that were guarded. */
  current: Guard | undefined
  /** The text that the change carried, so that nothing typed is lost. */
  text: string
}
/** A pending change as it is stored. With a position it is accepted: a stored board may be older and not show it yet. */
export type Kept = Pick<Pending, 'key' | 'change' | 'guard' | 'at' | 'base' | 'attempts' | 'position'>

/** A change of the user, one that takes another back, or one that was taken back and is made again. */
export type Mode = 'new' | 'undo' | 'redo'
/** A change that can be taken back, or made again. */
interface Step {
  /** Of the change, and of those that took it back: should one of them fail, there is nothing to go back to. */
  keys: string[]
  change: Change
  guard: Guard | undefined
  inverse: Change[]
}

/** More that came early is not worth keeping: the board is loaded anew. */
const MAX_EARLY = 1_000
const MAX_UNDO = 100

/**
 * What a client knows of a board: the server's board as it was at a position, exactly (the base), and the changes of its
 * own that the base does not show yet. What is shown is these changes laid over the base, and is never kept as truth.
 * Pure: it has neither clock nor network; whoever drives it tells what came and asks what to do.
 */
export class BoardCore {
  base: FullBoard | undefined
  at: Position = { epoch: 0, seq: 0 }
  /** The furthest position that is known to exist. */
  head: Position = { epoch: 0, seq: 0 }
  pending: Pending[] = []
  notices: Notice[] = []
  /** Who the user is, once it is known: only his own events can be answers to his changes. */
  user_id: string | undefined
  is_deleted = false
  /** Told of every event that the base takes up, in order; of nothing when the base jumps. */
  told: ((event: BoardEvent | undefined, is_own: boolean) => void) | undefined
  /** Events of one epoch that came before their turn. */
  private early = new Map<number, BoardEvent>()
  private early_epoch = 0
  private undos: Step[] = []
  /** Never more than there were to undo. */
  private redos: Step[] = []
  private shown: FullBoard | undefined
  private isStale = false

  constructor(kept: readonly Kept[] = []) {
    this.adopt(kept)
  }

  /** Takes up changes that a page of the user has left. Each has its key, so that it happens once. */
  adopt(kept: readonly Kept[]) {
    for (const each of kept) {
      const known = this.find(each.key)
      if (!known)
        this.pending.push({ ...each, state: each.position ? 'accepted' : 'queued', is_seen: false, is_shared: false })
      else if (known.state === 'queued') Object.assign(known, newerOf(known, each))
    }
    this.settle()
  }

  /** Another page may be sending these too, or has sent them: only the server knows whether they happened. */
  share(keys: readonly string[]) {
    for (const operation of this.pending) operation.is_shared ||= keys.includes(operation.key)
  }

  /** The board to show: the base with the pending changes laid over it. Equal parts are the same objects as before. */
  get view(): FullBoard | undefined {
    this.refresh()
    return this.shown
  }

  /** What must be asked for: the events behind the base, or the whole board. */
  get missing(): 'nothing' | 'events' | 'board' {
    if (!this.base || this.head.epoch !== this.at.epoch || this.early.size > MAX_EARLY) return 'board'
    return this.head.seq > this.at.seq ? 'events' : 'nothing'
  }

  /** The server's board at a position. One that is older than the base is of no use. */
  load(board: FullBoard, position: Position) {
    if (this.base && isBefore(position, this.at)) return
    if (this.base && isBefore(this.at, position)) this.told?.(undefined, false)
    this.base = share(this.base, board)
    this.at = position
    this.hear(position)
    this.drain()
  }

  /** An event of an epoch, in whatever order it comes. */
  take(event: BoardEvent, epoch: number) {
    this.hear({ epoch, seq: event.seq })
    if (epoch < this.head.epoch) return
    if (epoch !== this.early_epoch) this.early.clear()
    this.early_epoch = epoch
    this.early.set(event.seq, event)
    if (this.base) this.drain()
  }

  /** A position was named, by a greeting, a ping or an answer: it exists. */
  hear(position: Position) {
    if (isBefore(this.head, position)) this.head = position
  }

  /** The user changes something: shown at once, to be sent in turn. */
  change(key: string, change: Change, at: string, mode: Mode = 'new', guard?: Guard) {
    const before = this.view
    const meant = before ? anchored(before, change) : change
    if (mode === 'undo') this.redos.at(-1)?.keys.push(key)
    else this.remember({ keys: [key], change: meant, guard, inverse: before ? inverse(before, change) : [] })
    // What was taken back before is of another course of things.
    if (mode === 'new') this.redos = []
    const base = this.pending.reduce((known, { position }) => later(known, position), this.at)
    const operation: Pending = {
      ...{ key, change: meant, guard, at, base },
      ...{ state: 'queued', attempts: 0, is_shared: false, is_seen: false, position: undefined },
    }
    this.pending.push(operation)
    // One more on top of what is shown: the others need not be laid again.
    if (!before || this.is_deleted || !isPossible(before, meant) || conflictIn(before, operation)) this.isStale = true
    else this.shown = share(before, predict(before, meant, at))
  }

  /** The changes that undo the user's last change, or the one with this key, for `change`. */
  undo(key?: string): Change[] {
    const step = this.undos.findLast(({ keys }) => !key || keys.includes(key))
    if (!step) return []
    this.undos = this.undos.filter((each) => each !== step)
    this.redos.push(step)
    return step.inverse
  }

  /** Of a change that takes a text back: the text that it takes back. Whatever else is there is somebody else's. */
  written({ name }: Change): Guard | undefined {
    if (name !== 'updateCard') return undefined
    const { card_id: _, ...guard } = (this.redos.at(-1) as Step).change.input as Guard & { card_id: string }
    return guard
  }

  /** The change that was taken back last, for `change`. */
  redo(): Pick<Step, 'change' | 'guard'> | undefined {
    return this.redos.pop()
  }

  get can_undo(): boolean {
    return this.undos.length > 0
  }

  get can_redo(): boolean {
    return this.redos.length > 0
  }

  /** The change to send now. One after the other: a card is created before it is moved. */
  next(): Pending | undefined {
    this.refresh()
    const first = this.pending.find(({ state }) => state !== 'accepted')
    return first?.state === 'queued' ? first : undefined
  }

  sent(key: string) {
    const operation = this.find(key)
    if (!operation) return
    operation.state = 'sent'
    operation.attempts++
  }

  /** No answer came: it may have happened or not. It is sent again, with the same key. */
  lost(key: string) {
    const operation = this.find(key)
    if (operation?.state === 'sent') operation.state = 'queued'
  }

  /** It happened: the base shows it from this position on. Until then it stays laid over the base, so nothing flickers. */
  accept(key: string, position: Position) {
    const operation = this.find(key)
    if (!operation) return
    operation.state = 'accepted'
    operation.position = position
    // The changes behind it may need what it made.
    for (const other of this.pending) other.base = later(other.base, position)
    this.hear(position)
    this.settle()
  }

  /** It did not happen and never will. Taking it out of the list takes its effect back; what was typed is kept. */
  reject(key: string, problem: Problem) {
    const operation = this.find(key)
    if (!operation) return
    // Sent before with an unknown outcome, and long ago: the id is there because it did happen.
    const hasHappened = problem.code === 'id_taken' && operation.attempts > 1
    this.drop(operation, hasHappened ? undefined : 'rejected', problem)
  }

  /** Somebody else wrote what it would overwrite: it is not sent. */
  conflict(key: string, current: Guard) {
    const operation = this.find(key)
    if (operation) this.drop(operation, 'conflict', undefined, current)
  }

  /** The user gives a change up. Should it have happened, the base will show it. */
  discard(key: string) {
    const operation = this.find(key)
    if (operation && operation.state !== 'accepted') this.drop(operation)
  }

  /** The user has seen it, or has done something about it. */
  dismiss(key: string) {
    this.notices = this.notices.filter((notice) => notice.key !== key)
  }

  private remember(step: Step) {
    if (step.inverse.length > 0) this.undos = [...this.undos, step].slice(-MAX_UNDO)
  }

  private find(key: string) {
    return this.pending.find((operation) => operation.key === key)
  }

  /** Applies what is next, as long as it is there. */
  private drain() {
    if (this.early_epoch !== this.at.epoch) return this.settle()
    for (const seq of this.early.keys()) if (seq <= this.at.seq) this.early.delete(seq)
    for (let event = this.early.get(this.at.seq + 1); event; event = this.early.get(this.at.seq + 1)) {
      this.early.delete(event.seq)
      this.apply(event)
    }
    this.settle()
  }

  private apply(event: BoardEvent) {
    const before = this.base as FullBoard
    this.base = applyEvent(before, event)
    this.at = { epoch: this.at.epoch, seq: event.seq }
    if (event.type === 'board.deleted') this.is_deleted = true
    this.told?.(event, this.isOwn(event))
    this.recognise(event, before)
    this.isStale = true
    // An answer that came first waits for exactly this: in between nothing may be shown twice or not at all.
    this.settle()
  }

  /** Whether a change of this core made the event, as far as can be told: the log does not say which request did. */
  private isOwn(event: BoardEvent): boolean {
    return this.isOfUser(event) && this.pending.some(({ attempts, change }) => attempts > 0 && isDoneBy(change, event))
  }

  private isOfUser({ user_id }: BoardEvent): boolean {
    return user_id !== null && user_id === (this.user_id ?? user_id)
  }

  /**
   * An event by the user himself that does what his sent change would do is taken for it: what others do next is shown
   * at once, not first when the answer comes. Should it be of another tab, the base shows the same all the same.
   */
  private recognise(event: BoardEvent, before: FullBoard) {
    const operation = this.pending.find(({ state }) => state !== 'accepted')
    if (!operation || operation.attempts === 0 || operation.is_seen) return
    if (!this.isOfUser(event)) return
    const { type, data } = event
    const { change, at } = operation
    const after = this.base as FullBoard
    // A move to where it is has its event too.
    const isMove = type.endsWith('.moved') && (data as { id: string }).id === subjectOf(change).id
    operation.is_seen = (isMove || predict(before, change, at) !== before) && predict(after, change, at) === after
  }

  /** Changes that the base shows by now are no longer pending. */
  private settle() {
    this.pending = this.pending.filter(({ position }) => !position || isBefore(this.at, position))
    this.isStale = true
  }

  /** Lays the pending changes over the base, and drops those that can never happen any more. */
  private refresh() {
    if (!this.isStale || !this.base) return
    this.isStale = false
    let board = this.base
    for (const operation of this.pending) {
      const { change, at, base, is_seen, attempts, is_shared } = operation
      if (is_seen) continue
      // What was sent is the server's to decide, and so is what was made on a newer board than this one.
      const isDecided = attempts === 0 && !is_shared && !isBefore(this.at, base)
      const current = isDecided && conflictIn(board, operation)
      if (current) this.drop(operation, 'conflict', undefined, current)
      else if (!this.is_deleted && isPossible(board, change)) board = predict(board, change, at)
      else if (isDecided) this.drop(operation, isDeletion(change) ? undefined : 'gone')
    }
    this.isStale = false
    this.shown = share(this.shown, board)
  }

  private drop(operation: Pending, reason?: Notice['reason'], problem?: Problem, current?: Guard) {
    const { key, change } = operation
    this.pending = this.pending.filter((other) => other !== operation)
    this.undos = this.undos.filter(({ keys }) => !keys.includes(key))
    this.redos = this.redos.filter(({ keys }) => !keys.includes(key))
    this.isStale = true
    const isDoneAnyway = isDeletion(change) && problem?.status === 404
    if (reason && !isDoneAnyway)
      this.notices = [...this.notices, { key, change, reason, problem, current, text: textOf(change) }]
  }
}

/** What is kept of a change while the page is away. */
export const keptOf = ({ key, change, guard, at, base, attempts, position }: Pending): Kept => ({
  ...{ key, change, guard, at, base, attempts, position },
})

/** A queued change that another page may have sent, with what that page knows of it. */
const newerOf = (known: Pending, { attempts, base, position }: Kept): Partial<Pending> => ({
  attempts: Math.max(known.attempts, attempts),
  base: later(known.base, base),
  ...(position && { position, state: 'accepted' }),
})

/** What a guarded change would overwrite on a board. */
const conflictIn = (board: FullBoard, operation: Pending) =>
  operation.guard && conflictOf(operation, find(board, CARDS, subjectOf(operation.change).id)?.item)

export const isBefore = (a: Position, b: Position) => a.epoch < b.epoch || (a.epoch === b.epoch && a.seq < b.seq)
export const later = (a: Position, b: Position | undefined) => (b && isBefore(a, b) ? b : a)

/** What is to be gone is gone: that is what the user wanted. */
const isDeletion = (change: Change) => ['delete', 'remove', 'unassign'].includes(subjectOf(change).verb)

function textOf({ input }: Change): string {
  const { title, name, content, description } = input as Record<string, unknown>
  return [title, name, content, description].filter((text) => typeof text === 'string').join('\n\n')
}
