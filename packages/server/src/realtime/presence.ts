import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PRESENCE_SECONDS } from '@lockstep/contract/realtime'
import { channelOf, tagOf } from './bus.ts'

const text = readFileSync(new URL('presence.lua', import.meta.url), 'utf8')
const script = { text, sha: createHash('sha1').update(text).digest('hex') }
const LIFETIME_MS = PRESENCE_SECONDS * 1_000
/** How long a connection counts when its instance goes away in order: long enough to come back elsewhere. */
const DRAINED_MS = 10_000
const AT_ONCE = 500
/** After Redis lost its data, everybody registers again within a heartbeat and this: nobody has left meanwhile. */
const SETTLING_MS = 5_000
const REPAIR_MS = 250
/** How long a connection waits to be registered in Redis before `user_joined` is sent. */
const REGISTER_MS = 250
const MAX_REPAIR_MS = 8_000

/** A connection of a user to a board. */
export interface Connection {
  id: string
  user_id: string
  username: string
}
interface Transition {
  type: 'user_joined' | 'user_left'
  user_id: string
  username: string
  /** The connection that caused it, which was told already; empty when nobody connected just now. */
  connection: string
}
type Operation = 'open' | 'join' | 'refresh' | 'leave' | 'shorten' | 'reap' | 'list'

/** What presence needs of the world. */
export interface PresenceEnvironment {
  /** Absent without Redis: then this instance's view is all there is. */
  run: ((script: { sha: string; text: string }, keys: string[], args: string[]) => Promise<unknown>) | undefined
  /** Tells every connection to a board here, but for one. */
  tell: (board_id: string, message: string, except: string) => void
  random: () => number
  heartbeatMs: number
}

/** Who is on one board, as this instance knows it. */
interface Room {
  here: Map<string, Connection>
  /** Who went just now, and is not told of yet. */
  leaving: Connection[]
  /** User to username, over all instances. */
  users: Map<string, string>
  /** How far the transitions of the board are known. It only grows, also when Redis begins anew. */
  version: number
  graceUntil: number
  reaper: NodeJS.Timeout | undefined
  /** Runs while Redis must be told again who is here; `failures` is how often it was in vain. */
  registrar: NodeJS.Timeout | undefined
  failures: number
  isRepairing: boolean
  /** Whether those who were there before are known. They are not told of: they did not come just now. */
  isLoaded: boolean
  /** Transitions that were heard before it was known who was there; undefined from then on. */
  held: string[] | undefined
}

/**
 * Who is connected to a board, over all instances. The state and the order of its changes live in Redis, in one script;
 * each instance tells its own connections what really changes, and repairs what it missed by the version.
 */
export class PresenceRooms {
  private readonly rooms = new Map<string, Room>()
  private readonly world: PresenceEnvironment
  /** Redis was slow to register a connection, and has not answered since: nobody waits for it meanwhile. */
  private isSlow = false

  constructor(world: PresenceEnvironment) {
    this.world = world
  }

  /**
   * A connect, which everybody on the board is told. `registered` is called once, before anybody else is told: when Redis
   * knows of the connection, when it cannot be reached, or when it takes too long.
   */
  join(board_id: string, connection: Connection, registered: () => void) {
    const known = this.rooms.get(board_id)
    const room = known ?? this.open(board_id)
    room.here.set(connection.id, connection)
    const giveUp = () => {
      this.isSlow = true
      registered()
    }
    const timer = this.isSlow ? undefined : setTimeout(giveUp, REGISTER_MS)
    if (this.isSlow) registered()
    const alone = () =>
      this.take(board_id, room, { type: 'user_joined', ...named(connection), connection: connection.id })
    void this.act(known ? 'join' : 'open', board_id, [connection], alone, () => {
      clearTimeout(timer)
      registered()
    })
  }

  leave(board_id: string, connection: Connection) {
    const room = this.rooms.get(board_id)
    if (!room?.here.delete(connection.id)) return
    // A crowd that goes at once is told of together: one question for each would hold the process.
    if (room.leaving.push(connection) === 1) setImmediate(() => this.tellLeft(board_id, room))
    if (room.here.size > 0) return
    this.forget(board_id, room)
  }

  /** The heartbeat of a board: its connections here count for another minute. A crowd goes one part after the other. */
  async refresh(board_id: string) {
    const room = this.rooms.get(board_id)
    for (const part of chunks([...(room?.here.values() ?? [])], AT_ONCE)) {
      // Whoever left meanwhile is not brought back.
      const here = part.filter(({ id }) => room?.here.has(id))
      await this.act('refresh', board_id, here, () => {})
    }
  }

  refreshAll() {
    for (const board_id of this.rooms.keys()) void this.refresh(board_id)
  }

  /** The instance goes away in order: its users have not left unless they stay away. */
  async drain() {
    await Promise.all(
      [...this.rooms].map(([id, room]) => this.call('shorten', id, [...room.here.values()]).catch(() => {})),
    )
  }

  /** A transition that another instance, or this one, caused. */
  heard(board_id: string, message: string) {
    const room = this.rooms.get(board_id)
    if (room?.held) room.held.push(message)
    else if (room) this.takeNumbered(board_id, room, message)
  }

  /** From now on the transitions of a board are heard: has there been one before? */
  audible(board_id: string) {
    if (this.rooms.has(board_id)) void this.act('reap', board_id, [], () => {})
  }

  /** Who is online: those whom Redis knows, and those connected here, whom Redis may not know yet. */
  async online(board_id: string): Promise<{ user_id: string; username: string }[]> {
    const known = this.world.run && (await this.call('list', board_id, []).catch(() => undefined))
    const users = new Map(known?.users)
    for (const { user_id, username } of this.rooms.get(board_id)?.here.values() ?? []) users.set(user_id, username)
    return [...users].map(([user_id, username]) => ({ user_id, username }))
  }

  close() {
    for (const [board_id, room] of this.rooms) this.forget(board_id, room)
  }

  private forget(board_id: string, room: Room) {
    clearTimeout(room.reaper)
    clearTimeout(room.registrar)
    this.rooms.delete(board_id)
  }

  private open(board_id: string): Room {
    const room: Room = {
      here: new Map(),
      leaving: [],
      users: new Map(),
      version: 0,
      graceUntil: 0,
      reaper: undefined,
      registrar: undefined,
      failures: 0,
      isRepairing: false,
      isLoaded: false,
      held: this.world.run && [],
    }
    this.rooms.set(board_id, room)
    return room
  }

  /** Does it in Redis, and tells what came of it; without Redis, does it here alone. `answered` is called before anybody is told. */
  private async act(
    operation: Operation,
    board_id: string,
    connections: Connection[],
    alone: () => void,
    answered: () => void = () => {},
  ) {
    if (!this.world.run) {
      answered()
      return alone()
    }
    const asked = this.rooms.get(board_id)
    const answer = await this.call(operation, board_id, connections).catch(() => undefined)
    answered()
    if (!answer) {
      if (operation === 'open' && asked) this.release(board_id, asked)
      if (operation !== 'leave' && asked) this.registerSoon(board_id, asked)
      return alone()
    }
    const { told, version, nextExpiryMs, users } = answer
    this.isSlow = false
    const room = this.rooms.get(board_id)
    if (!room) return
    room.failures = 0
    if (operation === 'open' && room === asked) this.begin(board_id, room, version, users)
    for (const message of told) this.heard(board_id, message)
    if (version > room.version && !room.held) this.repair(board_id, room, version)
    this.planReaping(board_id, room, nextExpiryMs)
  }

  /**
   * Who was there as the first connection here came, in the same step of Redis: whoever came before is known, and whoever
   * comes after is told of.
   */
  private begin(board_id: string, room: Room, version: number, users: Map<string, string>) {
    room.version = version
    room.users = users
    room.isLoaded = true
    this.release(board_id, room)
  }

  private release(board_id: string, room: Room) {
    const held = room.held ?? []
    room.held = undefined
    for (const message of held) this.takeNumbered(board_id, room, message)
  }

  private async call(operation: Operation, board_id: string, connections: Connection[]) {
    if (!this.world.run) throw new Error('There is no Redis')
    const tag = tagOf(board_id)
    const keys = ['connections', 'users', 'names', 'version'].map((key) => `${tag}:p:${key}:${board_id}`)
    const lifetime = operation === 'shorten' ? DRAINED_MS : LIFETIME_MS
    const people = connections.flatMap(({ id, user_id, username }) => [id, user_id, username])
    const args = [operation, String(lifetime), channelOf(board_id), String(PRESENCE_SECONDS * 2), ...people]
    const [next, version, told, names] = (await this.world.run(script, keys, args)) as [
      string,
      string,
      string[],
      string[],
    ]
    const users = new Map(chunks(names, 2).map(([user_id, username]) => [user_id as string, username as string]))
    return { nextExpiryMs: Number(next), version: Number(version), told, users }
  }

  /** `<version>|<transition>`: taken once; a hole before it is repaired by reading the state. */
  private takeNumbered(board_id: string, room: Room, message: string) {
    const end = message.indexOf('|')
    const version = Number(message.slice(0, end))
    if (version <= room.version) return
    const isNext = version === room.version + 1
    this.take(board_id, room, JSON.parse(message.slice(end + 1)) as Transition)
    if (!isNext) this.repair(board_id, room, version)
    room.version = version
  }

  private take(board_id: string, room: Room, transition: Transition) {
    const { type, user_id, username, connection } = transition
    const isKnown = room.users.has(user_id)
    const isHere = type === 'user_left' && [...room.here.values()].some((other) => other.user_id === user_id)
    // Redis has lost what it knew of him. Nobody is told what is not so; Redis is.
    if (isHere) return this.registerSoon(board_id, room)
    if (type === 'user_joined') room.users.set(user_id, username)
    else room.users.delete(user_id)
    const isNews = type === 'user_left' ? isKnown : connection !== '' || !isKnown
    if (isNews) this.world.tell(board_id, JSON.stringify({ type, user_id, username }), connection)
  }

  private tellLeft(board_id: string, room: Room) {
    for (const part of chunks(room.leaving.splice(0), AT_ONCE)) {
      void this.act('leave', board_id, part, () => this.leaveHere(board_id, room, part))
    }
  }

  private leaveHere(board_id: string, room: Room, connections: Connection[]) {
    const stillHere = new Set([...room.here.values()].map((other) => other.user_id))
    for (const connection of connections) {
      if (stillHere.has(connection.user_id)) continue
      this.take(board_id, room, { type: 'user_left', ...named(connection), connection: '' })
    }
  }

  /** Reads who is there and tells the difference. Right after Redis began anew, nobody counts as gone. */
  private repair(board_id: string, room: Room, versionNow: number) {
    const isAnew = room.version !== 0 && versionNow - room.version > LIFETIME_MS
    if (isAnew) this.settle(board_id, room)
    if (room.isRepairing) return
    room.isRepairing = true
    this.call('list', board_id, []).then(
      ({ version, users }) => {
        room.isRepairing = false
        room.version = Math.max(room.version, version)
        for (const [user_id, username] of users) {
          if (room.isLoaded) this.take(board_id, room, { type: 'user_joined', user_id, username, connection: '' })
          else room.users.set(user_id, username)
        }
        room.isLoaded = true
        if (performance.now() < room.graceUntil) return
        for (const [user_id, username] of [...room.users]) {
          if (!users.has(user_id)) this.take(board_id, room, { type: 'user_left', user_id, username, connection: '' })
        }
      },
      () => {
        room.isRepairing = false
        setTimeout(
          () => this.rooms.get(board_id) === room && this.repair(board_id, room, room.version),
          REPAIR_MS,
        ).unref()
      },
    )
  }

  /** Who has not registered again by the end of it has left. */
  private settle(board_id: string, room: Room) {
    const wait = this.world.heartbeatMs + SETTLING_MS
    room.graceUntil = performance.now() + wait
    const look = () => this.rooms.get(board_id) === room && this.repair(board_id, room, room.version)
    setTimeout(look, wait + 100).unref()
  }

  /** What could not be said to Redis, or was lost there, is said again until it is known. */
  private registerSoon(board_id: string, room: Room) {
    if (room.registrar || this.rooms.get(board_id) !== room) return
    const wait = Math.min(REPAIR_MS * 2 ** room.failures++, MAX_REPAIR_MS) * (0.5 + this.world.random())
    const again = () => {
      room.registrar = undefined
      void this.refresh(board_id)
    }
    room.registrar = setTimeout(again, wait).unref()
  }

  /** A connection that died without a word is removed soon after its time is up, by whoever is left. */
  private planReaping(board_id: string, room: Room, nextExpiryMs: number) {
    clearTimeout(room.reaper)
    if (nextExpiryMs < 0) return
    const wait = nextExpiryMs + 100 + 2_000 * this.world.random()
    room.reaper = setTimeout(() => void this.act('reap', board_id, [], () => {}), wait).unref()
  }
}

const named = ({ user_id, username }: Connection) => ({ user_id, username })

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
