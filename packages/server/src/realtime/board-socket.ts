import { type CloseReason, closeCodes, MAX_MESSAGES } from '@lockstep/contract/realtime'
import type { WebSocket } from 'ws'
import type { BoardGrant } from '../core/authorize.ts'
import { frame, framesOf, onceDrained, writeFrame } from './frames.ts'
import type { EvictionReason, Head, Held, LiveEvent, Viewer } from './hub.ts'

/** What is buffered for a client before the hub stops giving it more. */
const SOFT_BYTES = 262_144
/** A closing client that does not answer is cut. */
const CLOSE_MS = 2_000
/** A slow client that holds more than this is cut at once: the close frame would wait behind what it does not read. */
const MAX_CLOSING_BYTES = 1_048_576
/** A larger message is not parsed: it is no pong. */
const MAX_PONG_BYTES = 1_024

/** Why a connection is ended. A slow reader and a flood are told the same as too many connections, but counted apart. */
export type SocketCloseReason = CloseReason | 'slow' | 'flood'

const closeReasonOf: Record<EvictionReason, SocketCloseReason> = {
  removed: 'refused',
  deleted: 'board_deleted',
  slow: 'slow',
  restored: 'restart',
}
const closeReasons = new WeakMap<WebSocket, SocketCloseReason>()
/** Who ended a connection, and why. */
export const endingOf = (socket: WebSocket): SocketCloseReason | 'client' => closeReasons.get(socket) ?? 'client'

/** What a socket reports to whoever keeps it. */
export interface SocketHandlers {
  drained: (socket: BoardSocket) => void
}

/** One connection of one user to one board. */
export class BoardSocket implements Viewer {
  readonly id: string
  readonly board_id: string
  readonly user_id: string
  readonly username: string
  readonly enteredAt: number
  readonly knowsSeq: boolean
  readonly issued_at: number
  readonly token_hash: string
  readonly expiresAtSeconds: number
  isAwaitingPong = false
  messages = 0
  /** What is sent before the greeting waits for it; undefined from then on. */
  private held: Buffer[] | undefined = []
  private readonly socket: WebSocket
  private readonly keeper: SocketHandlers

  constructor(socket: WebSocket, id: string, entry: BoardGrant, knowsSeq: boolean, keeper: SocketHandlers) {
    const { credential, username } = entry.caller
    this.socket = socket
    this.id = id
    this.board_id = entry.board_id
    this.user_id = entry.caller.id
    this.username = username
    this.enteredAt = entry.last_seq
    this.knowsSeq = knowsSeq
    this.issued_at = credential.issued_at
    this.token_hash = credential.token_hash
    this.expiresAtSeconds = credential.expires_at
    this.keeper = keeper
  }

  write(events: readonly LiveEvent[]): Held | undefined {
    const frames = framesOf(events, this.knowsSeq)
    writeFrame(this.socket, frames)
    if (this.socket.bufferedAmount <= SOFT_BYTES) return undefined
    onceDrained(this.socket, () => this.keeper.drained(this))
    return frames
  }

  /** What is kept for it until it takes more. */
  get bufferedBytes(): number {
    return this.socket.bufferedAmount
  }

  resync({ epoch, seq }: Head) {
    this.send(frame(`{"type":"resync","epoch":${epoch},"seq":${seq}}`))
  }

  /** The first messages of the connection, ahead of whatever was sent since it was opened. Once only. */
  greet(frames: Buffer[]): boolean {
    const { held } = this
    if (!held || this.socket.readyState !== this.socket.OPEN) return false
    this.held = undefined
    for (const bytes of [...frames, ...held]) this.send(bytes)
    return true
  }

  /** Takes a frame that many may share. A client that is far behind is not given more of what it can do without. */
  send(bytes: Buffer) {
    if (this.held) this.held.push(bytes)
    else if (this.socket.bufferedAmount <= 2 * SOFT_BYTES) writeFrame(this.socket, bytes)
  }

  end(why: EvictionReason) {
    this.close(closeReasonOf[why])
  }

  close(why: SocketCloseReason) {
    closeSocket(this.socket, why)
  }

  /** Anything but a pong is ignored, and a flood ends the connection. */
  take(data: Buffer) {
    if (this.isFlood()) return this.close('flood')
    if (this.isAwaitingPong && data.length <= MAX_PONG_BYTES && isPong(data)) this.isAwaitingPong = false
  }

  /** The ping of the protocol itself, by which some clients look whether the line is alive. */
  takePing(data: Buffer) {
    if (this.isFlood()) return this.close('flood')
    // Answers to a client that does not read would pile up.
    if (this.socket.readyState === this.socket.OPEN && this.socket.bufferedAmount <= SOFT_BYTES) this.socket.pong(data)
  }

  /** The protocol's own pong means nothing here, but costs as much to read as anything else. */
  takePong() {
    if (this.isFlood()) this.close('flood')
  }

  private isFlood() {
    return ++this.messages > MAX_MESSAGES
  }
}

/** Says goodbye with a code, and cuts the line if nobody answers. */
export function closeSocket(socket: WebSocket, why: SocketCloseReason) {
  if (why === 'slow' && socket.bufferedAmount > MAX_CLOSING_BYTES) {
    closeReasons.set(socket, why)
    // Also when the client has sent its own close frame: it could still leave everything unread for half a minute.
    return socket.terminate()
  }
  if (socket.readyState !== socket.OPEN) return
  closeReasons.set(socket, why)
  const reason = why === 'slow' || why === 'flood' ? 'try_later' : why
  socket.close(closeCodes[reason].code, reason)
  setTimeout(() => socket.terminate(), CLOSE_MS).unref()
}

function isPong(data: Buffer): boolean {
  try {
    return (JSON.parse(data.toString()) as { type?: unknown } | null)?.type === 'pong'
  } catch {
    return false
  }
}
