import type { Hub } from '../../server/src/realtime/hub.ts'
import type { HubEnvironment, LiveEvent, Subscriber } from '../../server/src/realtime/hub-environment.ts'
import { mulberry32 } from './prng.ts'

/** The class under test, or a mutant of it. */
export type HubClass = new (environment: HubEnvironment) => Hub

export interface Outcome {
  violations: string[]
  events: number
  delivered: number
  lost: number
  connects: number
  fills: number
  /** Events that hubs reported as delivered, counted once per instance. */
  reported: number
}

interface Options {
  /** How long faults and writes continue, in simulated milliseconds; then everything recovers. */
  durationMs?: number
  /** Seeded defect: reads the state for the event's body before the board lock is held. */
  readsBodyBeforeLock?: boolean
}

const BOARDS = 3
const INSTANCES = 3
const CLIENTS = 9
const LOSS = 0.08
/** Maximum delay for a client that reads. */
const STALE_MS = 6_000
const RECOVERY_MS = 15_000
const PAGE = 50

/** Event queue of the simulated clock: work runs in order of its time, then of its scheduling. */
class EventQueue {
  now = 0
  private readonly heap: { time: number; nth: number; work: () => void }[] = []
  private count = 0

  at(delay: number, work: () => void) {
    const { heap } = this
    let i = heap.push({ time: this.now + delay, nth: this.count++, work }) - 1
    for (let up = (i - 1) >> 1; i > 0 && this.isBefore(i, up); i = up, up = (i - 1) >> 1) this.swap(i, up)
  }

  runUntil(end: number) {
    for (let next = this.pop(); next && next.time <= end; next = this.pop()) {
      this.now = next.time
      next.work()
    }
  }

  private pop() {
    const { heap } = this
    if (heap.length === 0) return undefined
    this.swap(0, heap.length - 1)
    const first = heap.pop()
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      let least = i
      if (left < heap.length && this.isBefore(left, least)) least = left
      if (right < heap.length && this.isBefore(right, least)) least = right
      if (least === i) return first
      this.swap(i, least)
      i = least
    }
  }
  private entry(i: number) {
    return this.heap[i] as { time: number; nth: number; work: () => void }
  }
  private isBefore(a: number, b: number) {
    const [x, y] = [this.entry(a), this.entry(b)]
    return x.time < y.time || (x.time === y.time && x.nth < y.nth)
  }
  private swap(a: number, b: number) {
    const { heap } = this
    const x = this.entry(a)
    heap[a] = this.entry(b)
    heap[b] = x
  }
}

interface Instance {
  isUp: boolean
  /** Incremented when the instance is killed, so that its pending work is ignored. */
  generation: number
  hub: Hub | undefined
  /** Boards whose subscription is active. */
  subscribed: Set<string>
  subscriptions: Map<string, () => void>
}
interface Client {
  name: string
  board: number
  wantsSeq: boolean
  /** Incremented for every connection, so that pending work of older ones is ignored. */
  generation: number
  state: 'off' | 'connecting' | 'on'
  seen: number | undefined
  instance: Instance | undefined
  subscriber: Subscriber | undefined
  inbox: LiveEvent[]
  unread: number
  isSlow: boolean
  slowChangedAt: number
  since: number
  /** The number of the removal event while the user is not a member. */
  removedAtSeq: number | undefined
}
interface Logged extends LiveEvent {
  committedAt: number
  truth: string
}

/** One run: instances, boards and clients over a log, a bus that loses, repeats and reorders messages, and injected faults. */
export function simulate(seed: number, HubUnderTest: HubClass, options: Options = {}): Outcome {
  const { durationMs = 30_000, readsBodyBeforeLock = false } = options
  const random = mulberry32(seed)
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  const clock = new EventQueue()
  const at = (delay: number, work: () => void) => clock.at(delay, work)
  const outcome: Outcome = { violations: [], events: 0, delivered: 0, lost: 0, connects: 0, fills: 0, reported: 0 }
  const violation = (text: string) => {
    if (outcome.violations.length < 5) outcome.violations.push(`seed ${seed}, ${clock.now} ms: ${text}`)
  }

  const logs: Logged[][] = Array.from({ length: BOARDS }, () => [])
  const states = Array.from({ length: BOARDS }, () => ({ title: 0, label: 0 }))
  let isRedisUp = true
  let isLogReadable = true
  const logOf = (board_id: string) => logs[Number(board_id)] as Logged[]

  const instances: Instance[] = Array.from({ length: INSTANCES }, () => ({
    isUp: false,
    generation: 0,
    hub: undefined,
    subscribed: new Set(),
    subscriptions: new Map(),
  }))
  function start(instance: Instance) {
    instance.isUp = true
    instance.subscribed = new Set()
    instance.subscriptions = new Map()
    instance.hub = new HubUnderTest(environmentOf(instance))
    const { generation, hub } = instance
    const everySecond = () => {
      if (instance.generation !== generation) return
      hub.evictSlow()
      at(1_000, everySecond)
    }
    at(1_000, everySecond)
  }
  function kill(instance: Instance) {
    instance.isUp = false
    instance.generation++
    instance.hub = undefined
    for (const client of clients.filter((c) => c.instance === instance && c.state !== 'off'))
      disconnect(client, between(50, 1_500))
  }

  function environmentOf(instance: Instance): HubEnvironment {
    const { generation } = instance
    const reported = new Map<LiveEvent[], number>()
    const whileAlive = (work: () => void) => () => {
      if (instance.generation === generation) work()
    }
    const query = <T>(read: () => T, done: (result: T | undefined) => void) => {
      // Commits can happen between the read and the arrival of its result.
      at(between(1, 15), () => {
        const result = isLogReadable ? read() : undefined
        at(
          between(1, 15),
          whileAlive(() => done(result)),
        )
      })
    }
    return {
      now: () => clock.now,
      after: (ms, work) => {
        let isStopped = false
        at(
          ms,
          whileAlive(() => {
            if (!isStopped) work()
          }),
        )
        return () => {
          isStopped = true
        }
      },
      soon: (work) => at(0, whileAlive(work)),
      random,
      readEvents: (board_id, after, done) => {
        outcome.fills++
        query(() => logOf(board_id).slice(after, after + PAGE), done)
      },
      readHeads: (ids, done) => query(() => new Map(ids.map((id) => [id, { epoch: 1, seq: logOf(id).length }])), done),
      subscribe: (board_id, done) => {
        instance.subscriptions.set(board_id, done)
        at(
          between(1, 40),
          whileAlive(() => activate(instance, board_id)),
        )
      },
      onDelivered: ({ event }) => {
        const log = logs.find((each) => each[event.seq - 1] === event)
        if (!log) return violation(`${event.seq} was reported as delivered, but is in no log`)
        outcome.reported++
        if (event.seq <= (reported.get(log) ?? 0))
          violation(`${event.seq} was reported as delivered twice, or out of order`)
        reported.set(log, event.seq)
      },
      unsubscribe: (board_id) => {
        instance.subscriptions.delete(board_id)
        instance.subscribed.delete(board_id)
      },
    }
  }
  function activate(instance: Instance, board_id: string) {
    const done = instance.subscriptions.get(board_id)
    if (!isRedisUp || !done || instance.subscribed.has(board_id)) return
    instance.subscribed.add(board_id)
    done()
  }

  // Clients connect, read at their own pace, disconnect, and resume with the last number they saw.
  const clients: Client[] = Array.from({ length: CLIENTS }, (_, i) => ({
    name: `client ${i}`,
    board: i % BOARDS,
    wantsSeq: i % 4 !== 3,
    generation: 0,
    state: 'off',
    seen: undefined,
    instance: undefined,
    subscriber: undefined,
    inbox: [],
    unread: 0,
    isSlow: false,
    slowChangedAt: -STALE_MS,
    since: 0,
    removedAtSeq: undefined,
  }))

  function connect(client: Client) {
    client.generation++
    const { generation } = client
    const up = instances.filter((instance) => instance.isUp)
    const instance = up[between(0, up.length - 1)]
    if (!instance?.hub || client.removedAtSeq !== undefined)
      return at(300, () => client.generation === generation && connect(client))
    outcome.connects++
    const { hub, generation: instanceGeneration } = instance
    Object.assign(client, { state: 'connecting', instance, inbox: [], unread: 0, since: clock.now })
    const board_id = String(client.board)
    // The access check happens a moment before the join.
    const authorizedAtSeq = logOf(board_id).length
    at(between(1, 30), () => {
      if (client.generation !== generation || instance.generation !== instanceGeneration) return
      const subscriber: Subscriber = {
        user_id: client.name,
        authorizedAtSeq,
        wantsSeq: client.wantsSeq,
        write: (events) => {
          client.inbox.push(...events)
          client.unread += events.length
          return client.isSlow && client.unread >= 4
        },
        sendResync: () => violation(`${client.name} was sent a resync although nothing is gone`),
        evict: (reason) => {
          const isHistory =
            reason === 'removed' && (client.inbox.findLast(isRemovalOf(client))?.seq ?? 0) <= authorizedAtSeq
          if (isHistory) violation(`${client.name} was evicted for a removal before it joined`)
          const unread = client.inbox
          at(between(1, 20), () => {
            if (client.generation !== generation) return
            for (const event of unread.splice(0)) receive(client, event)
            disconnect(client, between(0, 1_500))
          })
        },
      }
      client.subscriber = subscriber
      client.state = 'on'
      const isResuming = client.wantsSeq && client.seen !== undefined
      if (!isResuming) client.seen = authorizedAtSeq
      hub.join(board_id, 1, subscriber, isResuming ? { epoch: 1, seq: client.seen as number } : undefined)
      read()
    })
    function read() {
      if (client.generation !== generation) return
      if (!client.isSlow || random() > 0.7) {
        for (const event of client.inbox.splice(0)) receive(client, event)
        if (client.unread > 0) {
          client.unread = 0
          if (client.subscriber && instance?.generation === instanceGeneration)
            hub.onDrained(board_id, client.subscriber)
        }
      }
      at(between(5, 25), read)
    }
    at(random() < 0.5 ? between(500, 6_000) : between(6_000, 20_000), () => {
      if (client.generation !== generation) return
      if (client.subscriber && instance.generation === instanceGeneration) hub.leave(board_id, client.subscriber)
      disconnect(client, clock.now < durationMs ? between(0, 1_500) : 10)
    })
  }
  const isRemovalOf = (client: Client) => (event: LiveEvent) =>
    event.type === 'board.member_removed' && event.subject_id === client.name
  function disconnect(client: Client, reconnectInMs: number) {
    client.generation++
    const { generation } = client
    Object.assign(client, { state: 'off', subscriber: undefined, inbox: [] })
    at(reconnectInMs, () => client.generation === generation && connect(client))
  }
  function receive(client: Client, event: LiveEvent) {
    const seen = client.seen as number
    if (event.seq <= seen) violation(`${client.name} got ${event.seq} again after ${seen}`)
    else if (event.seq !== seen + 1) violation(`${client.name} got ${event.seq} after ${seen}: a gap`)
    if (client.removedAtSeq !== undefined && event.seq > client.removedAtSeq) {
      violation(`${client.name} got ${event.seq} after the removal at ${client.removedAtSeq}`)
    }
    if (event.body !== logOf(String(client.board))[event.seq - 1]?.truth) {
      violation(`${client.name} got a body at ${event.seq} that does not show every change up to it`)
    }
    client.seen = Math.max(seen, event.seq)
    outcome.delivered++
  }

  // Writers take the number under the lock. The message follows the commit, unless the writer crashes in between.
  function commit(board: number, type: string, subject_id: string | null, body: string) {
    const log = logs[board] as Logged[]
    const truth = JSON.stringify(states[board])
    const event: Logged = { seq: log.length + 1, type, subject_id, body, committedAt: clock.now, truth }
    log.push(event)
    outcome.events++
    const writer = instances[between(0, INSTANCES - 1)] as Instance
    const isCrash = !writer.isUp || random() < 0.03
    if (isCrash) return event
    writer.hub?.onMessage(String(board), 1, event)
    for (const instance of instances) {
      if (!isRedisUp || random() < LOSS) {
        outcome.lost++
        continue
      }
      const { generation } = instance
      for (let copy = random() < 0.05 ? 2 : 1; copy > 0; copy--) {
        at(between(1, 60), () => {
          if (instance.generation === generation && instance.subscribed.has(String(board)))
            instance.hub?.onMessage(String(board), 1, event)
        })
      }
    }
    return event
  }
  function write() {
    if (clock.now >= durationMs) return
    at(between(1, 60), write)
    // The last board is quiet: no later message reveals a lost one.
    const board = random() < 0.006 ? BOARDS - 1 : between(0, BOARDS - 2)
    const state = states[board] as { title: number; label: number }
    const field = random() < 0.5 ? 'title' : 'label'
    if (!readsBodyBeforeLock) {
      state[field]++
      commit(board, 'card.updated', null, JSON.stringify(state))
      return
    }
    const read = { ...state }
    at(between(0, 40), () => {
      state[field]++
      commit(board, 'card.updated', null, JSON.stringify({ ...read, [field]: state[field] }))
    })
  }
  function removeMember() {
    // Often a disconnected member: after being added again, the user resumes across their own removal.
    const away = clients.filter((c) => c.state === 'off' && c.wantsSeq)
    const client = (random() < 0.5 ? away[0] : undefined) ?? (clients[between(0, CLIENTS - 1)] as Client)
    if (client.removedAtSeq !== undefined) return
    const event = commit(client.board, 'board.member_removed', client.name, JSON.stringify(states[client.board]))
    client.removedAtSeq = event.seq
    at(between(50, 2_000), () => {
      client.removedAtSeq = undefined
    })
  }

  // Faults: Redis and the log become unreachable, instances are killed, clients read slowly.
  function injectFault() {
    if (clock.now > durationMs) return recover()
    at(between(300, 1_500), injectFault)
    const kind = between(0, 9)
    if (kind === 0) setRedis(!isRedisUp)
    if (kind === 1) {
      const instance = instances[between(0, INSTANCES - 1)] as Instance
      if (instance.isUp) kill(instance)
      at(between(100, 2_000), () => {
        if (!instance.isUp) start(instance)
      })
    }
    if (kind === 2) {
      const client = clients[between(0, CLIENTS - 1)] as Client
      client.isSlow = !client.isSlow
      client.slowChangedAt = clock.now
    }
    if (kind === 3) removeMember()
    if (kind === 4) {
      isLogReadable = false
      at(between(50, 800), () => {
        isLogReadable = true
      })
    }
  }
  function setRedis(isUp: boolean) {
    isRedisUp = isUp
    for (const instance of instances) {
      instance.subscribed.clear()
      const { generation } = instance
      // The Redis client reconnects by itself; the hub learns that messages may have been lost.
      at(between(0, 300), () => {
        if (instance.generation !== generation || isRedisUp !== isUp) return
        instance.hub?.setDegraded(!isUp)
        for (const board_id of instance.subscriptions.keys()) activate(instance, board_id)
      })
    }
  }
  function recover() {
    setRedis(true)
    for (const instance of instances) if (!instance.isUp) start(instance)
    for (const client of clients) client.isSlow = false
  }
  function checkStaleness() {
    at(500, checkStaleness)
    for (const client of clients) {
      const isSettled =
        client.state === 'on' &&
        !client.isSlow &&
        clock.now - client.slowChangedAt > STALE_MS &&
        clock.now - client.since > STALE_MS
      if (!isSettled || client.removedAtSeq !== undefined) continue
      const log = logs[client.board] as Logged[]
      const overdue = log[client.seen as number]
      if (overdue && overdue.committedAt < clock.now - STALE_MS) {
        violation(`${client.name} has not got ${overdue.seq}, committed ${clock.now - overdue.committedAt} ms ago`)
      }
    }
  }

  for (const instance of instances) start(instance)
  for (const client of clients) at(between(0, 1_000), () => connect(client))
  at(10, write)
  at(500, injectFault)
  at(500, checkStaleness)
  clock.runUntil(durationMs + RECOVERY_MS)
  for (const client of clients) {
    const head = (logs[client.board] as Logged[]).length
    if (client.state === 'on' && client.seen !== head) violation(`${client.name} ended at ${client.seen} of ${head}`)
  }
  return outcome
}
