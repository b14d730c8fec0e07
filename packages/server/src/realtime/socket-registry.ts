import { setTimeout as pause } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { findRevokedConnections } from '../core/authorize.ts'
import type { Database } from '../database/database.ts'
import { problemOfDatabase } from '../database/errors.ts'
import { KeyCounts } from '../platform/key-counts.ts'
import { yieldingForEach } from '../platform/yielding-for-each.ts'
import type { BoardSocket } from './board-socket.ts'
import { frame } from './frames.ts'
import { HeartbeatWheel } from './heartbeat.ts'

/** Connections per query that checks their access. */
const BATCH_SIZE = 500
/** Message counts are reset after this many seconds. */
const FLOOD_SECONDS = 10
const DRAIN_STEP_MS = 100

/** How many connections one user, one user on one board, and one address may have. */
export type SocketShares = Record<'user' | 'userAndBoard' | 'address', number>

interface RegistrySettings {
  maxSockets: number
  shares: SocketShares | undefined
}
interface RegistryDeps {
  database: Database
  log: { error: (details: object, message: string) => void }
  positionOf: (board_id: string) => number
  onHeartbeat: (board_id: string) => void
}

/** The open sockets of this instance: their limits, heartbeats, and the periodic check of their access. */
export class SocketRegistry {
  private readonly byBoard = new Map<string, Set<BoardSocket>>()
  /** Open connections by user, by user and board, and by address. */
  private readonly shares = new KeyCounts()
  private readonly wheel: HeartbeatWheel<BoardSocket>
  private readonly deps: RegistryDeps
  private readonly settings: RegistrySettings
  private ticks = 0
  /** Open connections, including those that are not authorized yet. */
  count = 0
  isDraining = false

  constructor(deps: RegistryDeps, settings: RegistrySettings) {
    this.deps = deps
    this.settings = settings
    this.wheel = new HeartbeatWheel({
      onBoardDue: (sockets) => this.refresh(sockets),
      onPingDue: (sockets) => this.ping(sockets),
      onPongDue: (sockets) => yieldingForEach(sockets, (socket) => socket.isAwaitingPong && socket.close('no_pong')),
      onTokenExpired: (socket) => socket.close('refused'),
    })
  }

  get isFull() {
    return this.count >= this.settings.maxSockets
  }

  /** Counts a connection until it closes. */
  track(ws: WebSocket) {
    this.count++
    ws.on('close', this.untrack)
  }
  private readonly untrack = () => void this.count--

  /** Counts a connection towards a share until it closes. Returns false when the limit is reached. */
  takeShare(ws: WebSocket, share: keyof SocketShares, owner: string): boolean {
    const limits = this.settings.shares
    if (!limits || ws.readyState !== ws.OPEN) return true
    const key = `${share} ${owner}`
    if (this.shares.of(key) >= limits[share]) return false
    this.shares.add(key)
    ws.on('close', () => this.shares.add(key, -1))
    return true
  }

  add(socket: BoardSocket) {
    const sockets = this.byBoard.get(socket.board_id) ?? new Set()
    this.byBoard.set(socket.board_id, sockets.add(socket))
    this.wheel.add(socket)
  }

  remove(socket: BoardSocket) {
    const sockets = this.byBoard.get(socket.board_id)
    sockets?.delete(socket)
    if (sockets?.size === 0) this.byBoard.delete(socket.board_id)
    this.wheel.remove(socket)
  }

  ofBoard(board_id: string): ReadonlySet<BoardSocket> | undefined {
    return this.byBoard.get(board_id)
  }

  /** To be called every second. */
  tick(nowSeconds: number) {
    if (++this.ticks % FLOOD_SECONDS === 0) for (const socket of this.all()) socket.messages = 0
    this.wheel.tick(nowSeconds)
  }

  /** Checks the access of a user's connections now, and closes those whose access was revoked. */
  async recheckUser(user_id: string) {
    const sockets = this.all().filter((socket) => socket.user_id === user_id)
    if (sockets.length > 0) await this.closeRevoked(sockets)
  }

  /** Closes all connections, spread over a period, so that clients do not all reconnect elsewhere at once. */
  async closeGradually(seconds: number) {
    const sockets = this.all()
    const steps = Math.max(1, Math.ceil((seconds * 1_000) / DRAIN_STEP_MS))
    const size = Math.ceil(sockets.length / steps)
    for (let i = 0; i < sockets.length; i += size) {
      for (const socket of sockets.slice(i, i + size)) socket.close('restart')
      await pause(DRAIN_STEP_MS)
    }
  }

  closeAll() {
    for (const socket of this.all()) socket.close('restart')
  }

  private all(): BoardSocket[] {
    return [...this.byBoard.values()].flatMap((sockets) => [...sockets])
  }

  /** Refreshes the presence of some boards, and checks the access of their connections. */
  private refresh(sockets: BoardSocket[]) {
    if (sockets.length === 0) return
    for (const board_id of new Set(sockets.map((socket) => socket.board_id))) this.deps.onHeartbeat(board_id)
    void this.closeRevoked(sockets)
  }

  /** Sends a ping to some connections. Those of one board share its frames. */
  private ping(sockets: BoardSocket[]) {
    const frames = new Map<string, { plain: Buffer; numbered: Buffer }>()
    for (const board_id of new Set(sockets.map((socket) => socket.board_id))) {
      const ping = `{"type":"ping","board_id":"${board_id}"`
      const seq = this.deps.positionOf(board_id)
      frames.set(board_id, { plain: frame(`${ping}}`), numbered: frame(`${ping},"seq":${seq}}`) })
    }
    yieldingForEach(sockets, (socket) => {
      const ping = frames.get(socket.board_id) as { plain: Buffer; numbered: Buffer }
      socket.isAwaitingPong = true
      socket.send(socket.wantsSeq ? ping.numbered : ping.plain)
    })
  }

  private async closeRevoked(sockets: BoardSocket[]) {
    try {
      // In batches: one query for many connections would block the event loop.
      for (let i = 0; i < sockets.length; i += BATCH_SIZE) {
        const batch = sockets.slice(i, i + BATCH_SIZE)
        for (const index of await findRevokedConnections(this.deps.database, batch)) batch[index]?.close('refused')
      }
    } catch (error) {
      if (!problemOfDatabase(error)) this.deps.log.error({ err: error }, 'Access check of open sockets failed')
    }
  }
}
