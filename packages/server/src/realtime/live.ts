import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { v7 as newUuid } from 'uuid'
import type { WebSocket } from 'ws'
import type { BoardGrant } from '../core/authorize.ts'
import type { CommittedChange } from '../core/event-log.ts'
import type { Database } from '../database/database.ts'
import type { DatabaseClock } from '../database/database-clock.ts'
import type { Admission } from '../http/admission.ts'
import type { ByteBudget } from '../platform/byte-budget.ts'
import type { Clock } from '../platform/clock.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import type { Tokens } from '../security/tokens.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { BoardSocket } from './board-socket.ts'
import { Bus } from './bus.ts'
import { frame } from './frames.ts'
import { Hub } from './hub.ts'
import type { Head, HubEnvironment } from './hub-environment.ts'
import { PresenceRooms } from './presence.ts'
import { PresenceBroadcaster } from './presence-broadcaster.ts'
import { PresenceStore } from './presence-store.ts'
import { readEventPage, readHeads } from './realtime-queries.ts'
import { deliveryObserver, observeLive } from './socket-metrics.ts'
import { SocketRegistry, type SocketShares } from './socket-registry.ts'
import { SocketServer } from './socket-server.ts'

const LOST_COMMITS =
  'PostgreSQL has lost commits that it had: after a restore, or a failover to a standby that was behind. Run `npm run admin -- new-epoch` to make every client reload its boards'

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
  error: (details: object, message: string) => void
}
export interface LiveSettings {
  redisUrl: string
  maxSockets: number
  /** How many access checks of new sockets run at once. */
  concurrentChecks: number
  /** Limits per user and per address; undefined means no limits. */
  shares: SocketShares | undefined
  drainSeconds: number
  /** Number of trusted proxies in front of the service. */
  trustedHops: number
}
interface LiveDeps {
  database: Database
  clock: Clock
  databaseClock: DatabaseClock
  tokens: Tokens
  limits: RateLimits
  log: Log
  metrics: Metrics
  isAllowedOrigin: (request: IncomingMessage) => boolean
  admission: Admission
  budget: ByteBudget
}

/** The event loop and randomness of the process, injected with the clock into the hub and presence. */
const runtime = {
  soon: (work: () => void) => void setImmediate(work),
  random: Math.random,
}

/** The real-time half of the service: connects sockets, hub, bus and presence. */
export class Live {
  private readonly registry: SocketRegistry
  private readonly server: SocketServer
  private readonly hub: Hub
  private readonly bus: Bus | undefined
  private readonly presence: PresenceRooms
  private readonly stopTicks: () => void
  private readonly metrics: Metrics
  private readonly drainSeconds: number

  constructor(deps: LiveDeps, settings: LiveSettings) {
    const { database, clock, databaseClock, log, metrics } = deps
    const { redisUrl, drainSeconds } = settings
    this.metrics = metrics
    this.drainSeconds = drainSeconds
    const registry = new SocketRegistry(
      {
        database,
        log,
        positionOf: (board_id) => this.hub.positionOf(board_id),
        onHeartbeat: (board_id) => void this.presence.refresh(board_id),
      },
      settings,
    )
    this.registry = registry
    this.server = new SocketServer(
      {
        ...deps,
        registry,
        onAccepted: (ws, socket, grant, since) => this.join(ws, socket, grant, since),
        onDrained: (socket) => this.hub.onDrained(socket.board_id, socket),
      },
      settings,
    )
    this.hub = new Hub({
      ...clock,
      ...runtime,
      ...logReader(deps),
      subscribe: (board_id, onSubscribed) => this.subscribe(board_id, onSubscribed),
      unsubscribe: (board_id) => this.bus?.unsubscribe(board_id),
      onLostCommits: (boards) => log.error({ boards }, LOST_COMMITS),
      ...(metrics.isOn && { onDelivered: deliveryObserver(metrics) }),
    })
    const bus = redisUrl === '' ? undefined : this.connectBus(redisUrl, log)
    this.bus = bus
    this.hub.setDegraded(bus !== undefined)
    observeLive(metrics, { hub: this.hub, bus, sockets: () => registry.count })
    const broadcaster = new PresenceBroadcaster({
      ...clock,
      recipientsOf: (board_id) => registry.ofBoard(board_id),
    })
    this.presence = new PresenceRooms({
      ...clock,
      ...runtime,
      store: bus && new PresenceStore((script, keys, args) => bus.script(script, keys, args)),
      broadcast: (board_id, { type, user_id, username, connection }) =>
        broadcaster.broadcast(board_id, {
          bytes: frame(JSON.stringify({ type, user_id, username })),
          user_id,
          hasLeft: type === 'user_left',
          connection,
        }),
    })
    this.stopTicks = clock.every(1_000, () => {
      this.hub.evictSlow()
      registry.tick(databaseClock.nowSeconds())
    })
  }

  /** Delivers a commit of this instance: directly to the sockets here, over the bus to other instances. */
  announce(committed: CommittedChange) {
    const committedAt = performance.now()
    this.metrics.meters.lockstep_events_committed_total.inc({}, committed.events.length)
    for (const event of committed.events) {
      this.hub.onMessage(committed.board_id, committed.epoch, { ...event, committedAt })
    }
    this.bus?.announce(committed)
  }

  /** A user was deactivated, or the password changed: checks the access of the user's sockets on all instances. */
  userChanged(user_id: string) {
    void this.registry.recheckUser(user_id)
    this.bus?.announceUser(user_id)
  }

  online(board_id: string) {
    return this.presence.online(board_id)
  }

  get ping() {
    const { bus } = this
    return bus && (() => bus.ping())
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    this.server.upgrade(request, socket, head)
  }

  /** Shutdown: closes all sockets, spread over `drainSeconds`. */
  async drain() {
    this.registry.isDraining = true
    await this.presence.drain()
    await this.registry.closeGradually(this.drainSeconds)
  }

  close() {
    this.stopTicks()
    this.hub.close()
    this.presence.close()
    this.bus?.close()
    this.registry.closeAll()
  }

  private connectBus(redisUrl: string, log: Log): Bus {
    return new Bus(redisUrl, newUuid(), log, {
      onEvent: (board_id, epoch, event) => this.hub.onMessage(board_id, epoch, event),
      onAnnouncement: (board_id, epoch, seq) => this.hub.onAnnouncement(board_id, epoch, seq),
      onPresence: (board_id, message) => this.presence.onMessage(board_id, message),
      onUserChange: (user_id) => void this.registry.recheckUser(user_id),
      onDegraded: (isDegraded) => {
        this.hub.setDegraded(isDegraded)
        if (!isDegraded) this.presence.refreshAll()
      },
    })
  }

  private subscribe(board_id: string, onSubscribed: () => void) {
    if (!this.bus) return onSubscribed()
    this.bus.subscribe(board_id, () => {
      onSubscribed()
      this.presence.onSubscribed(board_id)
    })
  }

  /** Order of messages on connect: hello, user_joined (once the user is registered as present), missed events, new events. */
  private join(ws: WebSocket, socket: BoardSocket, { board_id, epoch, last_seq }: BoardGrant, since: Head | undefined) {
    const { user_id, username } = socket
    const joined = frame(JSON.stringify({ type: 'user_joined', user_id, username }))
    const hello = socket.wantsSeq ? [frame(`{"type":"hello","epoch":${epoch},"seq":${last_seq}}`)] : []
    this.registry.add(socket)
    this.metrics.meters.lockstep_socket_opens_total.inc({})
    ws.on('close', () => this.leave(socket))
    this.presence.join(board_id, socket, () => {
      if (socket.greet([...hello, joined])) this.hub.join(board_id, epoch, socket, since)
    })
  }

  private leave(socket: BoardSocket) {
    this.registry.remove(socket)
    this.hub.leave(socket.board_id, socket)
    // While draining, the connection stays registered for a while: users who reconnect elsewhere do not appear to leave.
    if (!this.registry.isDraining) this.presence.leave(socket.board_id, socket)
  }
}

/** Reads of the event log for the hub. A user over the budget waits: the hub asks again. */
function logReader({ database, admission, budget }: LiveDeps): Pick<HubEnvironment, 'readEvents' | 'readHeads'> {
  return {
    readEvents: (board_id, after, done, { key, isShared, subscribers }) => {
      const read = async () => {
        if (!isShared) budget.require(key)
        const page = await readEventPage(database, board_id, after)
        if (!isShared) budget.charge(key, page.reduce((sum, { body }) => sum + body.length, 0) * subscribers())
        return page
      }
      void settle(admission.run(key, read), done)
    },
    readHeads: (board_ids, done) => void settle(readHeads(database, board_ids), done),
  }
}

/** Passes the result of a promise on, or undefined if it failed. */
async function settle<T>(promise: Promise<T>, done: (value: T | undefined) => void) {
  const value = await promise.catch(() => undefined)
  done(value)
}
