import { type CloseReason, closeCodes } from '@lockstep/contract/realtime'
import type { WebSocket } from 'ws'
import type { Entry } from '../core/access.ts'
import { frame, framesOf, onceDrained, writeFrame } from './frames.ts'
import type { Ending, Head, LiveEvent, Viewer } from './hub.ts'

/** What is buffered for a client before the hub stops giving it more. */
const SOFT_BYTES = 262_144
/** A closing client that does not answer is cut. */
const CLOSE_MS = 2_000
/** The only client message with a meaning is pong, twice a minute. This many in ten seconds are a flood. */
const MAX_MESSAGES = 20

/** Why a connection is ended. One that is too slow is told the same as one that is too many, but counted apart. */
export type Goodbye = CloseReason | 'slow'

const goodbyeOf: Record<Ending, Goodbye> = {
  removed: 'refused',
  deleted: 'board_deleted',
  slow: 'slow',
  restored: 'restart',
}
const goodbyes = new WeakMap<WebSocket, Goodbye>()
/** Who ended a connection, and why. */
export const endingOf = (socket: WebSocket): Goodbye | 'client' => goodbyes.get(socket) ?? 'client'

/** What a socket reports to whoever keeps it. */
export interface Keeper {
  drained: (socket: BoardSocket) => void
}

/** One connection of one user to one board. */
export class BoardSocket implements Viewer {
  readonly id: string
  readonly board_id: string
  readonly user_id: string
  readonly username: string
  readonly entered_at: number
  readonly knows_seq: boolean
  readonly issued_at: number
  readonly token_hash: string
  readonly expires_at_seconds: number
  isAwaitingPong = false
  messages = 0
  private readonly socket: WebSocket
  private readonly keeper: Keeper

  constructor(socket: WebSocket, id: string, entry: Entry, knows_seq: boolean, keeper: Keeper) {
    const { credential, username } = entry.caller
    this.socket = socket
    this.id = id
    this.board_id = entry.board_id
    this.user_id = entry.caller.id
    this.username = username
    this.entered_at = entry.last_seq
    this.knows_seq = knows_seq
    this.issued_at = credential.issued_at
    this.token_hash = credential.token_hash
    this.expires_at_seconds = credential.expires_at
    this.keeper = keeper
  }

  write(events: readonly LiveEvent[]): boolean {
    writeFrame(this.socket, framesOf(events, this.knows_seq))
    if (this.socket.bufferedAmount <= SOFT_BYTES) return true
    onceDrained(this.socket, () => this.keeper.drained(this))
    return false
  }

  /** What is kept for it until it takes more. */
  get buffered_bytes(): number {
    return this.socket.bufferedAmount
  }

  resync({ epoch, seq }: Head) {
    this.send(frame(`{"type":"resync","epoch":${epoch},"seq":${seq}}`))
  }

  /** Takes a frame that many may share. A client that is far behind is not given more of what it can do without. */
  send(bytes: Buffer) {
    if (this.socket.bufferedAmount <= 2 * SOFT_BYTES) writeFrame(this.socket, bytes)
  }

  end(why: Ending) {
    this.close(goodbyeOf[why])
  }

  close(why: Goodbye) {
    closeSocket(this.socket, why)
  }

  /** Anything but a pong means nothing, and too much of it ends the connection. */
  take(data: Buffer, isBinary: boolean) {
    if (isBinary) return this.close('not_text')
    if (this.isFlood()) return this.close('refused')
    if (isPong(data)) this.isAwaitingPong = false
  }

  /** The ping of the protocol itself, by which some clients look whether the line is alive. */
  takePing(data: Buffer) {
    if (this.isFlood()) return this.close('refused')
    if (this.socket.readyState === this.socket.OPEN) this.socket.pong(data)
  }

  /** The protocol's own pong means nothing here, but costs as much to read as anything else. */
  takePong() {
    if (this.isFlood()) this.close('refused')
  }

  private isFlood() {
    return ++this.messages > MAX_MESSAGES
  }
}

/** Says goodbye with a code, and cuts the line if nobody answers. */
export function closeSocket(socket: WebSocket, why: Goodbye) {
  if (socket.readyState !== socket.OPEN) return
  goodbyes.set(socket, why)
  const reason = why === 'slow' ? 'try_later' : why
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
