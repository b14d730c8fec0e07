import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { formats } from '@lockstep/contract/formats'
import { member } from '@lockstep/contract/operation'
import { HEARTBEAT_SECONDS, MAX_MESSAGE_BYTES } from '@lockstep/contract/realtime'
import { v7 as newUuid } from 'uuid'
import { type WebSocket, WebSocketServer } from 'ws'
import { type BoardGrant, checkAccess, findRevokedConnections } from '../core/authorize.ts'
import type { CommittedChange } from '../core/event-log.ts'
import type { Database } from '../database/database.ts'
import type { DatabaseClock } from '../database/database-clock.ts'
import { problemOfDatabase } from '../database/errors.ts'
import { endConnection } from '../http/error-handler.ts'
import { addressOf, networkOf } from '../platform/client-address.ts'
import { KeyCounts } from '../platform/key-counts.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { yieldingForEach } from '../platform/yielding-for-each.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import type { Tokens } from '../security/tokens.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { BoardSocket, closeSocket, endingOf, type SocketHandlers } from './board-socket.ts'
import { Bus } from './bus.ts'
import { frame } from './frames.ts'
import { HeartbeatWheel } from './heartbeat.ts'
import { type Head, Hub } from './hub.ts'
import { PresenceRooms } from './presence.ts'
import { PresenceBroadcaster } from './presence-broadcaster.ts'
import { readEventPage, readHeads } from './realtime-queries.ts'
import { deliveryObserver, observeLive } from './socket-metrics.ts'

const LOOK_AT_ONCE = 500
const DOOR_WAIT_MS = 5_000
const MAX_PIECES = 1_024
const LOST =
  'PostgreSQL has lost commits that it had: a restore, or a failover to a standby that was behind. Run `npm run admin -- new-epoch`, so that every client loads its boards anew'

const sizeOfPage = (page: readonly { body: string }[]) => page.reduce((sum, { body }) => sum + body.length, 0)

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
  error: (details: object, message: string) => void
}
export type SocketShares = Record<'user' | 'userAndBoard' | 'address', number>
export interface LiveSettings {
  redisUrl: string
  maxSockets: number
  /** How many of these one user, one user on one board, and one address may have; nothing is limited without. */
  shares: SocketShares | undefined
  /** How many of those who come are looked at in one go: many may come back together. */
  concurrentHandshakes: number
  /** How many pages of the log are read at once. */
  concurrentPages: number
  drainSeconds: number
  /** How many proxies may tell the address of a client. */
  trustedHops: number
  /** Replaced by tests that cannot wait half a minute. */
  seconds?: { heartbeat: number; pong: number }
}
interface LiveDeps {
  database: Database
  clock: DatabaseClock
  tokens: Tokens
  limits: RateLimits
  log: Log
  metrics: Metrics
  isAllowedOrigin: (request: IncomingMessage) => boolean
}

/** The real-time half of the service: takes sockets in, and brings them every event of their board. */
export class Live {
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // Each piece of an unfinished message is an object of its own: many tiny ones would take far more memory than their bytes.
    maxFragments: MAX_PIECES,
    maxBufferedChunks: MAX_PIECES,
    skipUTF8Validation: false,
    // Answered by the socket that counts them: pongs to somebody who floods and does not read would pile up.
    autoPong: false,
    // One message of a client in a turn of the loop: a flood in one piece would hold the process until it is all read.
    allowSynchronousEvents: false,
  })
  private readonly hub: Hub
  private readonly bus: Bus | undefined
  private readonly presence: PresenceRooms
  private readonly wheel: HeartbeatWheel<BoardSocket>
  private readonly sockets = new Map<string, Set<BoardSocket>>()
  private readonly notices = new PresenceBroadcaster((board_id) => this.sockets.get(board_id))
  private readonly second: NodeJS.Timeout
  private readonly deps: LiveDeps
  private readonly settings: LiveSettings
  private readonly keeper: SocketHandlers = { drained: (socket) => this.hub.drained(socket.board_id, socket) }
  private readonly door: Semaphore
  /** Reads of the log, by user or board: clients that resume over and over leave connections to others. */
  private readonly pages: Semaphore
  private count = 0
  /** Open connections by user, by user and board, and by address. */
  private readonly shares = new KeyCounts()
  private ticks = 0
  private isDraining = false

  constructor(deps: LiveDeps, settings: LiveSettings) {
    this.deps = deps
    this.settings = settings
    const { database, log, metrics } = deps
    const reject = () => new Problem('overloaded')
    this.door = new Semaphore(settings.concurrentHandshakes, {
      maxWaiting: settings.maxSockets,
      waitMs: DOOR_WAIT_MS,
      reject,
    })
    this.pages = new Semaphore(settings.concurrentPages)
    // The library would answer a handshake that is none in its own words.
    this.server.on('wsClientError', (_error, socket, { method }) => refuseHandshake(socket, method))
    this.hub = new Hub({
      now: () => performance.now(),
      after: (ms, work) => {
        const timer = setTimeout(work, ms)
        return () => clearTimeout(timer)
      },
      soon: (work) => void setImmediate(work),
      random: Math.random,
      readEvents: (board_id, after, done, { key, viewers }) => {
        const read = () => readEventPage(database.forKey(key), board_id, after)
        const run = () => this.pages.run(read, { key })
        const sentBytes = (page: readonly { body: string }[]) => sizeOfPage(page) * viewers()
        const runPaced = () => this.pages.runPaced(read, sentBytes, { key })
        void answer(settings.shares ? runPaced() : run(), done)
      },
      readHeads: (board_ids, done) => void answer(readHeads(database, board_ids), done),
      subscribe: (board_id, done) => this.subscribe(board_id, done),
      unsubscribe: (board_id) => this.bus?.unsubscribe(board_id),
      lost: (boards) => log.error({ boards }, LOST),
      ...(metrics.isOn && { delivered: deliveryObserver(metrics) }),
    })
    if (settings.redisUrl !== '') {
      this.bus = new Bus(settings.redisUrl, newUuid(), log, {
        event: (board_id, epoch, event) => this.hub.heard(board_id, epoch, event),
        announced: (board_id, epoch, seq) => this.hub.announced(board_id, epoch, seq),
        presence: (board_id, message) => this.presence.heard(board_id, message),
        user: (user_id) => void this.lookAgainAt(user_id),
        suspect: (isSuspect) => {
          this.hub.suspect(isSuspect)
          if (!isSuspect) this.presence.refreshAll()
        },
      })
    }
    this.hub.suspect(this.bus !== undefined)
    const { bus, hub } = this
    observeLive(metrics, { hub, bus, sockets: () => this.count })
    this.presence = new PresenceRooms({
      run: bus && ((script, keys, args) => bus.script(script, keys, args)),
      tell: (board_id, message, except) => this.notices.broadcast(board_id, { bytes: frame(message), except }),
      random: Math.random,
      heartbeatMs: (settings.seconds?.heartbeat ?? HEARTBEAT_SECONDS) * 1_000,
    })
    this.wheel = new HeartbeatWheel(
      {
        beat: (sockets) => this.beat(sockets),
        due: (sockets) => yieldingForEach(sockets, (socket) => socket.isAwaitingPong && socket.close('no_pong')),
        expired: (socket) => socket.close('refused'),
      },
      settings.seconds,
    )
    this.second = setInterval(() => this.turn(), 1_000)
  }

  /** Tells of a commit of this instance: to the sockets here at once, to other instances by the bell. */
  announce(committed: CommittedChange) {
    const committedAt = performance.now()
    const { meters } = this.deps.metrics
    meters.lockstep_events_committed_total.inc({}, committed.events.length)
    for (const event of committed.events) {
      this.hub.heard(committed.board_id, committed.epoch, { ...event, committedAt })
    }
    this.bus?.announce(committed)
  }

  /** A user was deactivated or changed his password: his sockets are looked at, here and elsewhere. */
  userChanged(user_id: string) {
    void this.lookAgainAt(user_id)
    this.bus?.announceUser(user_id)
  }

  online(board_id: string) {
    return this.presence.online(board_id)
  }

  get ping() {
    const { bus } = this
    return bus && (() => bus.ping())
  }

  /** An HTTP upgrade. Whatever is wrong with it, the handshake is completed first: only so a browser sees the code. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    // What stands there may be no address at all.
    const url = URL.parse(request.url ?? '/', 'http://host')
    const board_id = /^(?:\/api)?\/ws\/boards\/([^/]+)\/?$/.exec(url?.pathname ?? '')?.[1]
    // Somebody who goes away in the middle of the handshake must not take the process along.
    socket.on('error', hangUp)
    if (!url || board_id === undefined) return endConnection(socket, new Problem('not_found'))
    this.server.handleUpgrade(request, socket, head, (ws) => {
      this.meet(ws, request, board_id.toLowerCase(), url.searchParams)
    })
  }

  /** Sends everybody away, a few at a time, so that they come back elsewhere without a rush. */
  async drain() {
    this.isDraining = true
    await this.presence.drain()
    const sockets = [...this.sockets.values()].flatMap((set) => [...set])
    const steps = Math.max(1, Math.ceil(this.settings.drainSeconds * 10))
    const size = Math.ceil(sockets.length / steps)
    for (let i = 0; i < sockets.length; i += size) {
      for (const socket of sockets.slice(i, i + size)) socket.close('restart')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  close() {
    clearInterval(this.second)
    this.hub.close()
    this.presence.close()
    this.bus?.close()
    for (const set of this.sockets.values()) for (const socket of set) socket.close('restart')
  }

  /** In a method of its own: what listens here as long as the socket lives would else keep the whole request with it. */
  private meet(ws: WebSocket, request: IncomingMessage, board_id: string, query: URLSearchParams) {
    ws.on('error', ignore)
    this.countOut(ws)
    if (this.count >= this.settings.maxSockets) return closeSocket(ws, 'try_later')
    if (this.isDraining) return closeSocket(ws, 'restart')
    this.count++
    ws.on('close', this.uncount)
    void this.accept(ws, request, board_id, query)
  }
  private readonly uncount = () => void this.count--

  private countOut(ws: WebSocket) {
    const { meters } = this.deps.metrics
    ws.on('close', () => meters.lockstep_socket_closes_total.inc({ reason: endingOf(ws) }))
  }

  private async accept(ws: WebSocket, request: IncomingMessage, board_id: string, query: URLSearchParams) {
    let seated: BoardSocket | undefined
    ws.on('message', (data: Buffer) => seated?.take(data))
    ws.on('ping', (data: Buffer) => seated?.takePing(data))
    ws.on('pong', () => seated?.takePong())
    // Before the token and the database are looked at: a flood must cost neither.
    const address = addressOf(request, this.settings.trustedHops)
    if (!this.takeShare(ws, 'address', networkOf(address))) return closeSocket(ws, 'try_later')
    if (await this.deps.limits.upgrade(address)) return closeSocket(ws, 'try_later')
    const entry = await this.admit(ws, request, board_id, query.get('token') ?? '')
    if (!entry || ws.readyState !== ws.OPEN) return
    const user_id = entry.caller.id
    if (!this.takeShare(ws, 'user', user_id) || !this.takeShare(ws, 'userAndBoard', `${user_id} ${entry.board_id}`))
      return closeSocket(ws, 'try_later')
    const since = readPosition(query.get('since'))
    const knowsSeq = query.has('since') || query.get('seq') === '1'
    seated = new BoardSocket(ws, newUuid(), entry, knowsSeq, this.keeper)
    this.seat(ws, seated, entry, since)
  }

  /** Counts a connection until it closes; false when the limit is reached. */
  private takeShare(ws: WebSocket, share: keyof SocketShares, who: string): boolean {
    const { shares: allowed } = this.settings
    if (!allowed || ws.readyState !== ws.OPEN) return true
    const key = `${share} ${who}`
    if (this.shares.of(key) >= allowed[share]) return false
    this.shares.add(key)
    ws.on('close', () => this.shares.add(key, -1))
    return true
  }

  /** Lets somebody in who may, or closes with the code that says why not. */
  private async admit(
    ws: WebSocket,
    request: IncomingMessage,
    board_id: string,
    token: string,
  ): Promise<BoardGrant | undefined> {
    try {
      if (!this.deps.isAllowedOrigin(request)) throw new Problem('foreign_origin')
      const credential = await this.deps.tokens.verifyForSocket(token)
      if (!credential || !formats.uuid.test(board_id)) throw new Problem('not_authenticated')
      const approach = { credential, access: member('board'), targetId: board_id, key: null }
      const { user_id } = credential
      const approached = () => checkAccess(this.deps.database.forKey(user_id), approach)
      return (await this.door.run(approached, { key: this.settings.shares && user_id })).authorize()
    } catch (error) {
      const isRefusal = error instanceof Problem && error.status < 500
      if (!(error instanceof Problem) && !problemOfDatabase(error))
        this.deps.log.error({ err: error }, 'a socket could not be taken in')
      closeSocket(ws, isRefusal ? 'refused' : 'try_later')
      return undefined
    }
  }

  /** Order on connect: hello, user_joined (when the user is registered as present), what was missed, what happens. */
  private seat(ws: WebSocket, socket: BoardSocket, entry: BoardGrant, since: Head | undefined) {
    const { board_id, epoch, last_seq } = entry
    const { user_id, username } = socket
    const joined = frame(JSON.stringify({ type: 'user_joined', user_id, username }))
    const hello = socket.knowsSeq ? [frame(`{"type":"hello","epoch":${epoch},"seq":${last_seq}}`)] : []
    const set = this.sockets.get(board_id) ?? new Set()
    this.sockets.set(board_id, set.add(socket))
    this.deps.metrics.meters.lockstep_socket_opens_total.inc({})
    this.wheel.add(socket)
    ws.on('close', () => this.leave(socket))
    this.presence.join(board_id, socket, () => {
      if (socket.greet([...hello, joined])) this.hub.join(board_id, epoch, socket, since)
    })
  }

  private leave(socket: BoardSocket) {
    const { board_id } = socket
    const set = this.sockets.get(board_id)
    set?.delete(socket)
    if (set?.size === 0) this.sockets.delete(board_id)
    this.wheel.remove(socket)
    this.hub.leave(board_id, socket)
    // On the way out the entry lives on for a while, so that nobody flaps who comes back elsewhere.
    if (!this.isDraining) this.presence.leave(board_id, socket)
  }

  private subscribe(board_id: string, done: () => void) {
    if (!this.bus) return done()
    this.bus.subscribe(board_id, () => {
      done()
      this.presence.audible(board_id)
    })
  }

  private turn() {
    if (++this.ticks % 10 === 0) for (const set of this.sockets.values()) for (const socket of set) socket.messages = 0
    this.hub.dropSlow()
    this.wheel.turn(this.deps.clock.nowSeconds())
  }

  /** The heartbeat of some boards: ping, presence, and a look whether everybody still may be here. */
  private beat(sockets: BoardSocket[]) {
    if (sockets.length === 0) return
    const pings = new Map<string, { plain: Buffer; numbered: Buffer }>()
    for (const board_id of new Set(sockets.map((s) => s.board_id))) {
      const seq = this.hub.positionOf(board_id)
      const ping = `{"type":"ping","board_id":"${board_id}"`
      pings.set(board_id, { plain: frame(`${ping}}`), numbered: frame(`${ping},"seq":${seq}}`) })
      void this.presence.refresh(board_id)
    }
    yieldingForEach(sockets, (socket) => {
      const ping = pings.get(socket.board_id) as { plain: Buffer; numbered: Buffer }
      socket.isAwaitingPong = true
      socket.send(socket.knowsSeq ? ping.numbered : ping.plain)
    })
    void this.dismissUnwelcome(sockets)
  }

  private async lookAgainAt(user_id: string) {
    const sockets = [...this.sockets.values()].flatMap((set) => [...set].filter((s) => s.user_id === user_id))
    if (sockets.length > 0) await this.dismissUnwelcome(sockets)
  }

  private async dismissUnwelcome(sockets: BoardSocket[]) {
    try {
      // Some at a time: a question about a large audience would hold the process.
      for (let i = 0; i < sockets.length; i += LOOK_AT_ONCE) {
        const some = sockets.slice(i, i + LOOK_AT_ONCE)
        for (const nth of await findRevokedConnections(this.deps.database, some)) some[nth]?.close('refused')
      }
    } catch (error) {
      if (!problemOfDatabase(error)) this.deps.log.error({ err: error }, 'sockets could not be looked at')
    }
  }
}

/** Hands the answer of the database to the hub, or nothing when there is none. */
async function answer<T>(question: Promise<T>, done: (value: T | undefined) => void) {
  const value = await question.catch(() => undefined)
  done(value)
}

/** `<epoch>.<seq>`; anything else is a position that nobody can have. */
function readPosition(text: string | null): Head | undefined {
  if (text === null) return undefined
  const [, epoch, seq] = /^(\d{1,10})\.(\d{1,15})$/.exec(text) ?? []
  return { epoch: Number(epoch ?? -1), seq: Number(seq ?? -1) }
}

function ignore() {}
function hangUp(this: Duplex) {
  this.destroy()
}

/** Another method, or headers that make no handshake. */
function refuseHandshake(socket: Duplex, method: string | undefined) {
  if (method !== 'GET') return endConnection(socket, new Problem('method_not_allowed'), 'Allow: GET\r\n')
  const problem = new Problem('malformed_request', { detail: 'The request is not a valid WebSocket handshake.' })
  return endConnection(socket, problem, 'Sec-WebSocket-Version: 13\r\n')
}
