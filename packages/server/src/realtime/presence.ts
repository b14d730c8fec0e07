import { HEARTBEAT_SECONDS } from '@lockstep/contract/realtime'
import type { Clock } from '../platform/clock.ts'
import { KeyCounts } from '../platform/key-counts.ts'
import {
  type Connection,
  chunks,
  LIFETIME_MS,
  type PresenceOperation,
  type PresenceReply,
  type PresenceStore,
} from './presence-store.ts'

/** Connections per call of the store. */
const BATCH_SIZE = 500
/** After Redis lost its data, every instance registers its connections again within a heartbeat. The rest is a margin. */
const GRACE_MS = HEARTBEAT_SECONDS * 1_000 + 5_000
const RETRY_MS = 250
const MAX_RETRY_MS = 8_000
/** How long `user_joined` waits for the connection to be registered in Redis. */
const REGISTER_TIMEOUT_MS = 250
/** Expired connections are removed a little after their time, at random moments, so that not all instances do it. */
const EXPIRY_DELAY_MS = 100
const EXPIRY_SPREAD_MS = 2_000

interface Transition {
  type: 'user_joined' | 'user_left'
  user_id: string
  username: string
  /** The connection that caused it and was sent it already; empty if there is none. */
  connection: string
}

/** Everything presence needs from outside. Clock, timers and randomness are injected as for the hub. */
export interface PresenceEnvironment extends Pick<Clock, 'now' | 'after'> {
  /** Undefined without Redis: then presence covers this instance only. */
  store: PresenceStore | undefined
  /** Sends a change to all connections of a board on this instance, except the one that joined. */
  broadcast: (board_id: string, transition: Transition) => void
  soon: (work: () => void) => void
  random: () => number
}

/** The presence of one board, as this instance knows it. */
interface Room {
  board_id: string
  /** Connections to this instance, by id. */
  local: Map<string, Connection>
  /** How many of them each user has. */
  localUsers: KeyCounts
  /** Connections that closed and are not reported yet. */
  leaving: Connection[]
  /** User id to username, over all instances. */
  users: Map<string, string>
  /** Version of the last applied transition. It only grows, also when Redis starts empty. */
  version: number
  /** Until then, users that Redis does not know are not considered gone. */
  graceUntil: number
  cancelExpiryTimer: (() => void) | undefined
  cancelReRegisterTimer: (() => void) | undefined
  failures: number
  isRepairing: boolean
  /** Whether the users who were present before this instance joined are known. They are not announced as joined. */
  isLoaded: boolean
  /** Messages received before the room is loaded; undefined once they are applied. */
  pending: string[] | undefined
}

/**
 * Presence: the users connected to each board, over all instances. Redis holds the state and the order of its changes. Each
 * instance broadcasts the changes to its own connections, and detects missed messages by their version.
 */
export class PresenceRooms {
  private readonly rooms = new Map<string, Room>()
  private readonly environment: PresenceEnvironment
  /** Whether Redis was too slow to register a connection and has not replied since. Meanwhile new connections do not wait. */
  private isStoreSlow = false

  constructor(environment: PresenceEnvironment) {
    this.environment = environment
  }

  /**
   * Registers a connection and broadcasts `user_joined`. `onRegistered` is called before the broadcast: when Redis has
   * registered the connection, cannot be reached, or takes too long. In the last case it is called again later.
   */
  join(board_id: string, connection: Connection, onRegistered: () => void) {
    const existing = this.rooms.get(board_id)
    const room = existing ?? this.open(board_id)
    room.local.set(connection.id, connection)
    room.localUsers.add(connection.user_id)
    const onTimeout = () => {
      this.isStoreSlow = true
      onRegistered()
    }
    const cancelTimeout = this.isStoreSlow ? undefined : this.environment.after(REGISTER_TIMEOUT_MS, onTimeout)
    if (this.isStoreSlow) onRegistered()
    const { id, user_id, username } = connection
    const joinLocally = () => this.applyTransition(room, { type: 'user_joined', user_id, username, connection: id })
    void this.run(existing ? 'join' : 'open', board_id, [connection], joinLocally, () => {
      cancelTimeout?.()
      onRegistered()
    })
  }

  leave(board_id: string, connection: Connection) {
    const room = this.rooms.get(board_id)
    if (!room?.local.delete(connection.id)) return
    room.localUsers.add(connection.user_id, -1)
    // Batched: one call for each of many connections that close together would block the event loop.
    if (room.leaving.push(connection) === 1) this.environment.soon(() => this.reportLeaving(room))
    if (room.local.size === 0) this.closeRoom(room)
  }

  /** Heartbeat: extends the lifetime of a board's local connections in Redis, one batch after the other. */
  async refresh(board_id: string) {
    const room = this.rooms.get(board_id)
    for (const batch of chunks([...(room?.local.values() ?? [])], BATCH_SIZE)) {
      // Connections that closed meanwhile must not be registered again.
      const open = batch.filter(({ id }) => room?.local.has(id))
      await this.run('refresh', board_id, open)
    }
  }

  refreshAll() {
    for (const board_id of this.rooms.keys()) void this.refresh(board_id)
  }

  /** Shutdown: shortens the lifetime of the local connections, so that users who reconnect elsewhere do not appear to leave. */
  async drain() {
    const { store } = this.environment
    if (!store) return
    const shorten = ({ board_id, local }: Room) => store.run('shorten', board_id, [...local.values()]).catch(() => {})
    await Promise.all(Array.from(this.rooms.values(), shorten))
  }

  /** A numbered transition, caused by this or another instance. */
  onMessage(board_id: string, message: string) {
    const room = this.rooms.get(board_id)
    if (room?.pending) room.pending.push(message)
    else if (room) this.applyMessage(room, message)
  }

  /** The board's channel is subscribed: messages arrive from now on, and earlier ones may have been missed. */
  onSubscribed(board_id: string) {
    if (this.rooms.has(board_id)) void this.run('reap', board_id)
  }

  /** The users known to Redis, plus those connected here that Redis may not know yet. */
  async online(board_id: string): Promise<{ user_id: string; username: string }[]> {
    const known = await this.environment.store?.run('list', board_id).catch(() => undefined)
    const users = new Map(known?.users)
    for (const { user_id, username } of this.rooms.get(board_id)?.local.values() ?? []) users.set(user_id, username)
    return [...users].map(([user_id, username]) => ({ user_id, username }))
  }

  close() {
    for (const room of this.rooms.values()) this.closeRoom(room)
  }

  private open(board_id: string): Room {
    const room: Room = {
      board_id,
      local: new Map(),
      localUsers: new KeyCounts(),
      leaving: [],
      users: new Map(),
      version: 0,
      graceUntil: 0,
      cancelExpiryTimer: undefined,
      cancelReRegisterTimer: undefined,
      failures: 0,
      isRepairing: false,
      isLoaded: false,
      pending: this.environment.store && [],
    }
    this.rooms.set(board_id, room)
    return room
  }

  private closeRoom(room: Room) {
    room.cancelExpiryTimer?.()
    room.cancelReRegisterTimer?.()
    this.rooms.delete(room.board_id)
  }

  private isOpen(room: Room) {
    return this.rooms.get(room.board_id) === room
  }

  /**
   * Runs an operation in Redis and applies the resulting transitions. Without Redis, or when it fails, `runLocally` does it for
   * this instance alone. `onReply` is called before anything is broadcast.
   */
  private async run(
    operation: PresenceOperation,
    board_id: string,
    connections: Connection[] = [],
    runLocally = () => {},
    onReply = () => {},
  ) {
    const { store } = this.environment
    if (!store) {
      onReply()
      return runLocally()
    }
    const requesting = this.rooms.get(board_id)
    const reply = await store.run(operation, board_id, connections).catch(() => undefined)
    onReply()
    if (!reply) {
      if (operation === 'open' && requesting) this.applyPending(requesting)
      if (operation !== 'leave' && requesting) this.scheduleReRegister(requesting)
      return runLocally()
    }
    this.isStoreSlow = false
    const room = this.rooms.get(board_id)
    if (room) this.applyReply(room, reply, operation === 'open' && room === requesting)
  }

  private applyReply(room: Room, { messages, version, nextExpiryMs, users }: PresenceReply, isFirst: boolean) {
    room.failures = 0
    if (isFirst) {
      // A snapshot from the call that registered the first connection: users who join later are announced by messages.
      room.version = version
      room.users = users
      room.isLoaded = true
      this.applyPending(room)
    }
    for (const message of messages) this.onMessage(room.board_id, message)
    if (version > room.version && !room.pending) this.repair(room, version)
    this.scheduleExpiry(room, nextExpiryMs)
  }

  private applyPending(room: Room) {
    const pending = room.pending ?? []
    room.pending = undefined
    for (const message of pending) this.applyMessage(room, message)
  }

  /** Applies `<version>|<transition>` once. A gap in the versions means missed messages, and is repaired. */
  private applyMessage(room: Room, message: string) {
    const end = message.indexOf('|')
    const version = Number(message.slice(0, end))
    if (version <= room.version) return
    const isNext = version === room.version + 1
    this.applyTransition(room, JSON.parse(message.slice(end + 1)) as Transition)
    if (!isNext) this.repair(room, version)
    room.version = version
  }

  private applyTransition(room: Room, transition: Transition) {
    const { type, user_id, username, connection } = transition
    const isKnown = room.users.has(user_id)
    const isLocal = type === 'user_left' && room.localUsers.of(user_id) > 0
    // Redis has lost a connection that is still open here: register it again instead of announcing that the user left.
    if (isLocal) return this.scheduleReRegister(room)
    if (type === 'user_joined') room.users.set(user_id, username)
    else room.users.delete(user_id)
    const isNew = type === 'user_left' ? isKnown : connection !== '' || !isKnown
    if (isNew) this.environment.broadcast(room.board_id, transition)
  }

  private reportLeaving(room: Room) {
    for (const batch of chunks(room.leaving.splice(0), BATCH_SIZE)) {
      void this.run('leave', room.board_id, batch, () => this.leaveLocally(room, batch))
    }
  }

  private leaveLocally(room: Room, connections: Connection[]) {
    for (const { user_id, username } of connections) {
      if (room.localUsers.of(user_id) > 0) continue
      this.applyTransition(room, { type: 'user_left', user_id, username, connection: '' })
    }
  }

  /** Reads the state from Redis and broadcasts the differences. During the grace period, missing users are kept. */
  private repair(room: Room, newVersion: number) {
    const isReset = room.version !== 0 && newVersion - room.version > LIFETIME_MS
    if (isReset) this.startGracePeriod(room)
    const { store } = this.environment
    if (room.isRepairing || !store) return
    room.isRepairing = true
    store.run('list', room.board_id).then(
      (reply) => {
        room.isRepairing = false
        this.applyState(room, reply)
      },
      () => {
        room.isRepairing = false
        this.repairAfter(room, RETRY_MS)
      },
    )
  }

  private applyState(room: Room, { version, users }: PresenceReply) {
    room.version = Math.max(room.version, version)
    for (const [user_id, username] of users) {
      if (room.isLoaded) this.applyTransition(room, { type: 'user_joined', user_id, username, connection: '' })
      else room.users.set(user_id, username)
    }
    room.isLoaded = true
    if (this.environment.now() < room.graceUntil) return
    for (const [user_id, username] of [...room.users]) {
      if (!users.has(user_id)) this.applyTransition(room, { type: 'user_left', user_id, username, connection: '' })
    }
  }

  private repairAfter(room: Room, ms: number) {
    this.environment.after(ms, () => {
      if (this.isOpen(room)) this.repair(room, room.version)
    })
  }

  /** Redis started empty. Users whose connections are not registered again by the end of the grace period have left. */
  private startGracePeriod(room: Room) {
    room.graceUntil = this.environment.now() + GRACE_MS
    this.repairAfter(room, GRACE_MS + 100)
  }

  /** Registers the local connections again, with exponential backoff and jitter, after Redis failed or lost them. */
  private scheduleReRegister(room: Room) {
    if (room.cancelReRegisterTimer || !this.isOpen(room)) return
    const { after, random } = this.environment
    const ms = Math.min(RETRY_MS * 2 ** room.failures++, MAX_RETRY_MS) * (0.5 + random())
    room.cancelReRegisterTimer = after(ms, () => {
      room.cancelReRegisterTimer = undefined
      void this.refresh(room.board_id)
    })
  }

  /** Removes connections that expired because their instance died. */
  private scheduleExpiry(room: Room, nextExpiryMs: number) {
    room.cancelExpiryTimer?.()
    if (nextExpiryMs < 0) return
    const { after, random } = this.environment
    const ms = nextExpiryMs + EXPIRY_DELAY_MS + EXPIRY_SPREAD_MS * random()
    room.cancelExpiryTimer = after(ms, () => void this.run('reap', room.board_id))
  }
}
