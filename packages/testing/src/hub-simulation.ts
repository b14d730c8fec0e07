import type { Hub, HubEnvironment, LiveEvent, Viewer } from '../../server/src/realtime/hub.ts'

/** The class under test, or a mutant of it. */
export type HubClass = new (outside: HubEnvironment) => Hub

export interface Outcome {
  violations: string[]
  events: number
  delivered: number
  lost: number
  connects: number
  fills: number
  /** Events that hubs said to have brought to everybody, each counted once for an instance. */
  told: number
}

interface Options {
  /** How long faults and writes go on, in simulated milliseconds; then everything heals. */
  duration_ms?: number
  /** Reads the state for the event's body before the board's lock is held: the mistake that D5 forbids. */
  readsBodyBeforeLock?: boolean
}

const BOARDS = 3
const INSTANCES = 3
const CLIENTS = 9
const LOSS = 0.08
/** No readable client may be further behind than this. */
const STALE_MS = 6_000
const HEALING_MS = 15_000
const PAGE = 50

/** mulberry32: a small generator whose whole state is the seed. */
export function generator(seed: number) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Simulated time: work is done in the order of its time, and of its asking. */
class Agenda {
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
  /** Grows when the instance dies: whatever it left running belongs to nobody. */
  life: number
  hub: Hub | undefined
  heard: Set<string>
  wanted: Map<string, () => void>
}
interface Client {
  name: string
  board: number
  knowsSeq: boolean
  /** Grows with every connection: what an older one left running is ignored. */
  life: number
  state: 'off' | 'connecting' | 'on'
  seen: number | undefined
  instance: Instance | undefined
  viewer: Viewer | undefined
  inbox: LiveEvent[]
  unread: number
  isSlow: boolean
  slowChangedAt: number
  since: number
  /** The number of his removal, while he is removed. */
  removed_at: number | undefined
}
interface Logged extends LiveEvent {
  committedAt: number
  truth: string
}

/** One run: several instances, boards and clients over a log, a bell that loses, repeats and reorders, and a nemesis. */
export function simulate(seed: number, HubUnderTest: HubClass, options: Options = {}): Outcome {
  const { duration_ms = 30_000, readsBodyBeforeLock = false } = options
  const random = generator(seed)
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  const agenda = new Agenda()
  const at = (delay: number, work: () => void) => agenda.at(delay, work)
  const outcome: Outcome = { violations: [], events: 0, delivered: 0, lost: 0, connects: 0, fills: 0, told: 0 }
  const violation = (text: string) => {
    if (outcome.violations.length < 5) outcome.violations.push(`seed ${seed}, ${agenda.now} ms: ${text}`)
  }

  const logs: Logged[][] = Array.from({ length: BOARDS }, () => [])
  const states = Array.from({ length: BOARDS }, () => ({ title: 0, label: 0 }))
  let isRedisUp = true
  let isLogReadable = true
  const logOf = (board_id: string) => logs[Number(board_id)] as Logged[]

  const instances: Instance[] = Array.from({ length: INSTANCES }, () => ({
    isUp: false,
    life: 0,
    hub: undefined,
    heard: new Set(),
    wanted: new Map(),
  }))
  function start(instance: Instance) {
    instance.isUp = true
    instance.heard = new Set()
    instance.wanted = new Map()
    instance.hub = new HubUnderTest(outsideOf(instance))
    const { life, hub } = instance
    const second = () => {
      if (instance.life !== life) return
      hub.dropSlow()
      at(1_000, second)
    }
    at(1_000, second)
  }
  function kill(instance: Instance) {
    instance.isUp = false
    instance.life++
    instance.hub = undefined
    for (const client of clients.filter((c) => c.instance === instance && c.state !== 'off'))
      hangUp(client, between(50, 1_500))
  }

  function outsideOf(instance: Instance): HubEnvironment {
    const { life } = instance
    const told = new Map<LiveEvent[], number>()
    const alive = (work: () => void) => () => {
      if (instance.life === life) work()
    }
    const ask = <T>(read: () => T, done: (answer: T | undefined) => void) => {
      // What is read and when it arrives are two moments: commits happen in between.
      at(between(1, 15), () => {
        const answer = isLogReadable ? read() : undefined
        at(
          between(1, 15),
          alive(() => done(answer)),
        )
      })
    }
    return {
      now: () => agenda.now,
      after: (ms, work) => {
        let isStopped = false
        at(
          ms,
          alive(() => {
            if (!isStopped) work()
          }),
        )
        return () => {
          isStopped = true
        }
      },
      soon: (work) => at(0, alive(work)),
      random,
      readEvents: (board_id, after, done) => {
        outcome.fills++
        ask(() => logOf(board_id).slice(after, after + PAGE), done)
      },
      readHeads: (ids, done) => ask(() => new Map(ids.map((id) => [id, { epoch: 1, seq: logOf(id).length }])), done),
      subscribe: (board_id, done) => {
        instance.wanted.set(board_id, done)
        at(
          between(1, 40),
          alive(() => listen(instance, board_id)),
        )
      },
      delivered: ({ event }) => {
        const log = logs.find((each) => each[event.seq - 1] === event)
        if (!log) return violation(`${event.seq} was said to be delivered, and is nowhere`)
        outcome.told++
        if (event.seq <= (told.get(log) ?? 0)) violation(`${event.seq} was said to be delivered twice, or out of order`)
        told.set(log, event.seq)
      },
      unsubscribe: (board_id) => {
        instance.wanted.delete(board_id)
        instance.heard.delete(board_id)
      },
    }
  }
  function listen(instance: Instance, board_id: string) {
    const done = instance.wanted.get(board_id)
    if (!isRedisUp || !done || instance.heard.has(board_id)) return
    instance.heard.add(board_id)
    done()
  }

  // Clients: connect, read at their own pace, disconnect, come back with the number they last saw.
  const clients: Client[] = Array.from({ length: CLIENTS }, (_, i) => ({
    name: `client ${i}`,
    board: i % BOARDS,
    knowsSeq: i % 4 !== 3,
    life: 0,
    state: 'off',
    seen: undefined,
    instance: undefined,
    viewer: undefined,
    inbox: [],
    unread: 0,
    isSlow: false,
    slowChangedAt: -STALE_MS,
    since: 0,
    removed_at: undefined,
  }))

  function connect(client: Client) {
    client.life++
    const { life } = client
    const up = instances.filter((instance) => instance.isUp)
    const instance = up[between(0, up.length - 1)]
    if (!instance?.hub || client.removed_at !== undefined) return at(300, () => client.life === life && connect(client))
    outcome.connects++
    const { hub, life: instanceLife } = instance
    Object.assign(client, { state: 'connecting', instance, inbox: [], unread: 0, since: agenda.now })
    const board_id = String(client.board)
    // The membership, and the position as it was read, are a moment older than the seat.
    const enteredAt = logOf(board_id).length
    at(between(1, 30), () => {
      if (client.life !== life || instance.life !== instanceLife) return
      const viewer: Viewer = {
        user_id: client.name,
        enteredAt,
        knowsSeq: client.knowsSeq,
        write: (events) => {
          client.inbox.push(...events)
          client.unread += events.length
          return client.isSlow && client.unread >= 4 ? { length: 0 } : undefined
        },
        resync: () => violation(`${client.name} was told to resync although nothing is gone`),
        end: (why) => {
          const isHistory = why === 'removed' && (client.inbox.findLast(isRemovalOf(client))?.seq ?? 0) <= enteredAt
          if (isHistory) violation(`${client.name} was cut for a removal that is history`)
          const unread = client.inbox
          at(between(1, 20), () => {
            if (client.life !== life) return
            for (const event of unread.splice(0)) receive(client, event)
            hangUp(client, between(0, 1_500))
          })
        },
      }
      client.viewer = viewer
      client.state = 'on'
      const isResuming = client.knowsSeq && client.seen !== undefined
      if (!isResuming) client.seen = enteredAt
      hub.join(board_id, 1, viewer, isResuming ? { epoch: 1, seq: client.seen as number } : undefined)
      read()
    })
    function read() {
      if (client.life !== life) return
      if (!client.isSlow || random() > 0.7) {
        for (const event of client.inbox.splice(0)) receive(client, event)
        if (client.unread > 0) {
          client.unread = 0
          if (client.viewer && instance?.life === instanceLife) hub.drained(board_id, client.viewer)
        }
      }
      at(between(5, 25), read)
    }
    at(random() < 0.5 ? between(500, 6_000) : between(6_000, 20_000), () => {
      if (client.life !== life) return
      if (client.viewer && instance.life === instanceLife) hub.leave(board_id, client.viewer)
      hangUp(client, agenda.now < duration_ms ? between(0, 1_500) : 10)
    })
  }
  const isRemovalOf = (client: Client) => (event: LiveEvent) =>
    event.type === 'board.member_removed' && event.subject_id === client.name
  function hangUp(client: Client, backIn: number) {
    client.life++
    const { life } = client
    Object.assign(client, { state: 'off', viewer: undefined, inbox: [] })
    at(backIn, () => client.life === life && connect(client))
  }
  function receive(client: Client, event: LiveEvent) {
    const seen = client.seen as number
    if (event.seq <= seen) violation(`${client.name} got ${event.seq} again after ${seen}`)
    else if (event.seq !== seen + 1) violation(`${client.name} got ${event.seq} after ${seen}: a gap`)
    if (client.removed_at !== undefined && event.seq > client.removed_at) {
      violation(`${client.name} got ${event.seq} after his removal at ${client.removed_at}`)
    }
    if (event.body !== logOf(String(client.board))[event.seq - 1]?.truth) {
      violation(`${client.name} got a body at ${event.seq} that does not show every change up to it`)
    }
    client.seen = Math.max(seen, event.seq)
    outcome.delivered++
  }

  // Writers: the number is taken under the lock; announcing comes after the commit, and may not come at all.
  function commit(board: number, type: string, subject_id: string | null, body: string) {
    const log = logs[board] as Logged[]
    const truth = JSON.stringify(states[board])
    const event: Logged = { seq: log.length + 1, type, subject_id, body, committedAt: agenda.now, truth }
    log.push(event)
    outcome.events++
    const writer = instances[between(0, INSTANCES - 1)] as Instance
    const isCrash = !writer.isUp || random() < 0.03
    if (isCrash) return event
    writer.hub?.heard(String(board), 1, event)
    for (const instance of instances) {
      if (!isRedisUp || random() < LOSS) {
        outcome.lost++
        continue
      }
      const { life } = instance
      for (let copy = random() < 0.05 ? 2 : 1; copy > 0; copy--) {
        at(between(1, 60), () => {
          if (instance.life === life && instance.heard.has(String(board))) instance.hub?.heard(String(board), 1, event)
        })
      }
    }
    return event
  }
  function write() {
    if (agenda.now >= duration_ms) return
    at(between(1, 60), write)
    // The last board is quiet: nothing that follows reveals what the bell lost.
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
  function removeSomebody() {
    // Often somebody who is away: he comes back, a member again, and his own removal is among what he missed.
    const away = clients.filter((c) => c.state === 'off' && c.knowsSeq)
    const client = (random() < 0.5 ? away[0] : undefined) ?? (clients[between(0, CLIENTS - 1)] as Client)
    if (client.removed_at !== undefined) return
    const event = commit(client.board, 'board.member_removed', client.name, JSON.stringify(states[client.board]))
    client.removed_at = event.seq
    at(between(50, 2_000), () => {
      client.removed_at = undefined
    })
  }

  // Nemesis: Redis and the log come and go, instances die, readers slow down.
  function harm() {
    if (agenda.now > duration_ms) return heal()
    at(between(300, 1_500), harm)
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
      client.slowChangedAt = agenda.now
    }
    if (kind === 3) removeSomebody()
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
      instance.heard.clear()
      const { life } = instance
      // The client finds Redis again by itself; the hub is told that it may have missed something.
      at(between(0, 300), () => {
        if (instance.life !== life || isRedisUp !== isUp) return
        instance.hub?.suspect(!isUp)
        for (const board_id of instance.wanted.keys()) listen(instance, board_id)
      })
    }
  }
  function heal() {
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
        agenda.now - client.slowChangedAt > STALE_MS &&
        agenda.now - client.since > STALE_MS
      if (!isSettled || client.removed_at !== undefined) continue
      const log = logs[client.board] as Logged[]
      const overdue = log[client.seen as number]
      if (overdue && overdue.committedAt < agenda.now - STALE_MS) {
        violation(`${client.name} has not got ${overdue.seq}, committed ${agenda.now - overdue.committedAt} ms ago`)
      }
    }
  }

  for (const instance of instances) start(instance)
  for (const client of clients) at(between(0, 1_000), () => connect(client))
  at(10, write)
  at(500, harm)
  at(500, checkStaleness)
  agenda.runUntil(duration_ms + HEALING_MS)
  for (const client of clients) {
    const head = (logs[client.board] as Logged[]).length
    if (client.state === 'on' && client.seen !== head) violation(`${client.name} ended at ${client.seen} of ${head}`)
  }
  return outcome
}
