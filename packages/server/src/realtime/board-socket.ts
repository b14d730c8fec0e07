import type { Duplex } from 'node:stream'
import { type CloseReason, closeCodes, MAX_MESSAGES } from '@lockstep/contract/realtime'
import type { WebSocket } from 'ws'
import type { BoardGrant } from '../core/authorize.ts'
import type { Credential } from '../security/tokens.ts'
import { frame, framesOf } from './frames.ts'
import type { EvictionReason, Head, LiveEvent, Subscriber } from './hub-environment.ts'

/** Above this many buffered bytes, the hub stops sending to a client. */
const SOFT_BYTES = 262_144
/** How long a client may take to complete the closing handshake. */
const CLOSE_MS = 2_000
/** A slow client with more unread bytes is terminated: a close frame would wait behind them. */
const MAX_CLOSING_BYTES = 1_048_576
/** Larger messages are not parsed, because they cannot be pongs. */
const MAX_PONG_BYTES = 1_024

/** Why a connection is closed. Slow readers and floods get the close code `try_later`, but are counted separately. */
export type SocketCloseReason = CloseReason | 'slow' | 'flood'

const closeReasonOf: Record<EvictionReason, SocketCloseReason> = {
  removed: 'refused',
  deleted: 'board_deleted',
  slow: 'slow',
  restored: 'restart',
}
const closeReasons = new WeakMap<WebSocket, SocketCloseReason>()
/** The reason the server closed a connection, or `client`. */
export const closedBy = (socket: WebSocket): SocketCloseReason | 'client' => closeReasons.get(socket) ?? 'client'

/** One connection of one user to one board. */
export class BoardSocket implements Subscriber {
  readonly id: string
  readonly board_id: string
  readonly user_id: string
  readonly username: string
  readonly authorizedAtSeq: number
  readonly wantsSeq: boolean
  readonly credential: Credential
  readonly expiresAtSeconds: number
  isAwaitingPong = false
  /** Received since the counts were last reset. */
  messages = 0
  /** Frames queued until the greeting is sent; undefined afterwards. */
  private queued: Buffer[] | undefined = []
  private readonly socket: WebSocket
  /** The connection below it. Frames that sockets share are written to it directly, so that they are built once. */
  private readonly stream: Duplex
  private readonly onDrained: (socket: BoardSocket) => void

  constructor(
    socket: WebSocket,
    stream: Duplex,
    id: string,
    { caller, board_id, last_seq }: BoardGrant,
    wantsSeq: boolean,
    onDrained: (socket: BoardSocket) => void,
  ) {
    const { credential, token } = caller
    this.socket = socket
    this.stream = stream
    this.id = id
    this.board_id = board_id
    this.user_id = caller.id
    this.username = caller.username
    this.authorizedAtSeq = last_seq
    this.wantsSeq = wantsSeq
    this.credential = credential
    this.expiresAtSeconds =
      credential.token_id === undefined ? credential.expires_at : (token?.expires_at ?? Number.POSITIVE_INFINITY)
    this.onDrained = onDrained
  }

  write(events: readonly LiveEvent[]): boolean {
    this.writeFrame(framesOf(events, this.wantsSeq))
    if (this.socket.bufferedAmount <= SOFT_BYTES) return false
    this.stream.once('drain', () => this.onDrained(this))
    return true
  }

  /** Bytes that the client has not read yet. */
  get bufferedBytes(): number {
    return this.socket.bufferedAmount
  }

  sendResync({ epoch, seq }: Head) {
    this.send(frame(`{"type":"resync","epoch":${epoch},"seq":${seq}}`))
  }

  /** Sends the first messages of the connection, then those queued meanwhile. Returns false if already done, or closed. */
  greet(frames: Buffer[]): boolean {
    const { queued } = this
    if (!queued || this.socket.readyState !== this.socket.OPEN) return false
    this.queued = undefined
    for (const bytes of [...frames, ...queued]) this.send(bytes)
    return true
  }

  /** Sends a frame that other sockets may share. Skipped for a client that is far behind. */
  send(bytes: Buffer) {
    if (this.queued) this.queued.push(bytes)
    else if (this.socket.bufferedAmount <= 2 * SOFT_BYTES) this.writeFrame(bytes)
  }

  private writeFrame(bytes: Buffer) {
    if (bytes.length > 0 && this.socket.readyState === this.socket.OPEN) this.stream.write(bytes)
  }

  evict(reason: EvictionReason) {
    this.close(closeReasonOf[reason])
  }

  close(reason: SocketCloseReason) {
    closeSocket(this.socket, reason)
  }

  /** Handles a text or binary message. Only pongs mean anything; a flood closes the connection. */
  onMessage(data: Buffer) {
    if (this.isFlood()) return this.close('flood')
    if (this.isAwaitingPong && data.length <= MAX_PONG_BYTES && isPong(data)) this.isAwaitingPong = false
  }

  /** Handles a ping frame of the WebSocket protocol, which some clients use as a keep-alive. */
  onPing(data: Buffer) {
    if (this.isFlood()) return this.close('flood')
    // Pongs to a client that does not read would accumulate.
    if (this.socket.readyState === this.socket.OPEN && this.socket.bufferedAmount <= SOFT_BYTES) this.socket.pong(data)
  }

  /** Handles a pong frame of the WebSocket protocol. It is ignored, but counts as a message. */
  onPong() {
    if (this.isFlood()) this.close('flood')
  }

  private isFlood() {
    return ++this.messages > MAX_MESSAGES
  }
}

/** Closes with the code for a reason, and terminates the connection if the client does not reply in time. */
export function closeSocket(socket: WebSocket, reason: SocketCloseReason) {
  if (reason === 'slow' && socket.bufferedAmount > MAX_CLOSING_BYTES) {
    closeReasons.set(socket, reason)
    // Also after the client's own close frame: it could still leave everything unread for half a minute.
    return socket.terminate()
  }
  if (socket.readyState !== socket.OPEN) return
  closeReasons.set(socket, reason)
  const sentReason = reason === 'slow' || reason === 'flood' ? 'try_later' : reason
  socket.close(closeCodes[sentReason].code, sentReason)
  setTimeout(() => socket.terminate(), CLOSE_MS).unref()
}

function isPong(data: Buffer): boolean {
  try {
    return (JSON.parse(data.toString()) as { type?: unknown } | null)?.type === 'pong'
  } catch {
    return false
  }
}
