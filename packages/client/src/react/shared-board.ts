import type { Api } from '../live/api.ts'
import {
  type BoardListener,
  type Change,
  LiveBoard,
  type LiveOptions,
  type Made,
  type Notice,
  type QueueStorage,
  type Snapshot,
  type Status,
} from '../live/index.ts'
import { tell } from '../live/live-board.ts'
import { KeptQueue } from '../live/storage.ts'
import type { FullBoard, OnlineUser } from '../live/types.ts'

/** How a board is opened: with a storage for changes that the board does not show yet, whose they are, and the board of an earlier visit. */
export interface BoardOptions extends Pick<LiveOptions, 'loadStored'> {
  storage: QueueStorage
  user_id: string
}

/** A live board as a component sees it: values that never change, new ones for what is new. */
export interface BoardState {
  /** What to show. Equal parts are the same objects as before. Undefined only before the first load. */
  view: FullBoard | undefined
  status: Status
  /** The user's changes that are not confirmed yet. */
  pending: readonly { key: string; change: Change }[]
  /** Changes that did not come about, with what was typed, until they are dismissed. */
  notices: readonly Notice[]
  presence: readonly OnlineUser[]
  can_undo: boolean
  can_redo: boolean
  /** Changes the board: shown at once, sent as soon as there is a line. */
  change: LiveBoard['change']
  /** Takes the user's last change back. */
  undo: () => Made[]
  /** Makes the change again that was taken back last. */
  redo: () => Made[]
  /** Gives up a change that is not confirmed. */
  discard: (key: string) => void
  /** The user has seen a notice. */
  dismiss: (key: string) => void
  /**
   * Tries at once to connect and to send, instead of when it is time again. A board that was closed because the session
   * had ended goes on with all that is pending, when its user has logged in again.
   */
  retry: () => void
  /** The server's board under the view, without the user's own changes. */
  snapshot: () => Snapshot | undefined
}

const boards = new WeakMap<Api, Map<string, SharedBoard>>()

/** The one live board of a page for this client and id, open or not. */
export function sharedBoard(api: Api, board_id: string): SharedBoard {
  const ofApi = boards.get(api) ?? new Map<string, SharedBoard>()
  boards.set(api, ofApi)
  const shared = ofApi.get(board_id) ?? new SharedBoard(api, board_id)
  ofApi.set(board_id, shared)
  return shared
}

/** A live board that is open as long as somebody listens. */
export class SharedBoard {
  state: BoardState
  /** How to open it, if a component says so. */
  options: BoardOptions | undefined
  private readonly api: Api
  private readonly board_id: string
  private readonly closed: BoardState
  private readonly listeners = new Set<() => void>()
  private readonly event_listeners = new Set<BoardListener>()
  /** Grows when it is opened or closed: what was begun before is not wanted any more. */
  private life = 0
  private isOpen = false
  private board: LiveBoard | undefined

  constructor(api: Api, board_id: string) {
    this.api = api
    this.board_id = board_id
    this.closed = {
      view: undefined,
      status: connecting(),
      pending: [],
      notices: [],
      presence: [],
      can_undo: false,
      can_redo: false,
      change: (name, input, how) => this.opened().change(name, input, how),
      undo: () => this.opened().undo(),
      redo: () => this.opened().redo(),
      discard: (key) => this.opened().discard(key),
      dismiss: (key) => this.opened().dismiss(key),
      retry: () => this.opened().retry(),
      snapshot: () => this.board?.snapshot(),
    }
    this.state = this.closed
  }

  readonly subscribe = (listener: () => void): (() => void) => this.join(this.listeners, listener)

  readonly onEvent = (listener: BoardListener): (() => void) => this.join(this.event_listeners, listener)

  private join<T>(listeners: Set<T>, listener: T): () => void {
    listeners.add(listener)
    this.settle()
    return () => {
      listeners.delete(listener)
      this.settle()
    }
  }

  /** Opens or closes it when all components of a commit have come and gone: StrictMode lets each do so twice. */
  private settle() {
    queueMicrotask(() => {
      const isWanted = this.listeners.size + this.event_listeners.size > 0
      if (isWanted === this.isOpen) return
      this.isOpen = isWanted
      const life = ++this.life
      if (isWanted) void this.open(life)
      else this.close()
    })
  }

  private async open(life: number) {
    const { api, board_id, options } = this
    this.state = { ...this.state, status: connecting() }
    const queue = options && new KeptQueue(options.storage, options.user_id, board_id)
    const kept = await queue?.load()
    if (life !== this.life) return
    const board = new LiveBoard(api, board_id, options ?? {}, queue, kept)
    this.board = board
    const show = () => {
      this.state = stateOf(board, this.state)
      for (const listener of [...this.listeners]) listener()
    }
    board.subscribe(show)
    board.onEvent((event, about) => {
      for (const listener of [...this.event_listeners]) tell(() => listener(event, about))
    })
    show()
  }

  private close() {
    const { board } = this
    this.board = undefined
    this.state = this.closed
    void board?.close()
  }

  private opened(): LiveBoard {
    if (!this.board) throw new Error('The board is not open: no component that shows it is mounted')
    return this.board
  }
}

const connecting = (): Status => ({ phase: 'connecting', pending: 0, reason: undefined, since: Date.now() })

function stateOf(board: LiveBoard, { pending, ...before }: BoardState): BoardState {
  const { view, status, notices, presence, can_undo, can_redo } = board
  // The live board's own list changes in place.
  const now = board.pending.map(({ key, change }) => ({ key, change }))
  const isSame = now.length === pending.length && now.every(({ key }, i) => key === pending[i]?.key)
  return { ...before, view, status, notices, presence, can_undo, can_redo, pending: isSame ? pending : now }
}
