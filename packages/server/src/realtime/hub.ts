/** An event as the log keeps it and as sockets get it. */
export interface LiveEvent {
  seq: number
  type: string
  /** Whom a `board.member_removed` is about. */
  subject_id: string | null
  body: string
  /** When it was committed, by the clock of `now`, if this instance did it. */
  committedAt?: number
}
export interface Head {
  epoch: number
  seq: number
}
/** Why the hub lets a viewer go. The socket knows the close code for each. */
export type EvictionReason = 'removed' | 'deleted' | 'slow' | 'restored'

/** Memory that a viewer holds until it has been read. Viewers that were given the same memory answer the same object. */
export interface Held {
  /** In bytes. */
  readonly length: number
}

/** A connected client, as the hub sees it. */
export interface Viewer {
  readonly user_id: string
  /** The board's position as the viewer's membership was read. A removal up to it is history: he is a member again. */
  readonly enteredAt: number
  /** Whether he asked for sequence numbers, and so can be told to load the board anew. */
  readonly knowsSeq: boolean
  /** Takes events in order. Answers what is held of them when the buffer is full; `drained` is called when it has room again. */
  write: (events: readonly LiveEvent[]) => Held | undefined
  /** Tells him that events he asked for are gone, and from where on he will be told. */
  resync: (head: Head) => void
  end: (why: EvictionReason) => void
}

/** All that the hub needs of the world: a clock, the log, and the bell. Handed in, so that a simulation can be the world. */
export interface HubEnvironment {
  now: () => number
  after: (ms: number, work: () => void) => () => void
  /** As soon as other work had its turn. */
  soon: (work: () => void) => void
  random: () => number
  /**
   * Events behind a number, in order, as many as fit a page; undefined when the log cannot be read now. Pages that wait are
   * read in turn by key. `viewers` tells how many the page is then sent to.
   */
  readEvents: (
    board_id: string,
    after: number,
    done: (events: LiveEvent[] | undefined) => void,
    reader: { key: string; viewers: () => number },
  ) => void
  readHeads: (board_ids: string[], done: (heads: Map<string, Head> | undefined) => void) => void
  /** `done` when the bell for this board is heard from now on. Also after the bell was lost and found again. */
  subscribe: (board_id: string, done: () => void) => void
  unsubscribe: (board_id: string) => void
  /** Told when the log has lost events that it had, of so many boards. */
  lost?: (boards: number) => void
  /** Told which events everybody here has who takes any: once for an event, however large the audience. */
  delivered?: (taken: Taken) => void
}

/** An event, and where it came from: a commit of this instance, the bell, or the log. */
export interface Taken {
  event: LiveEvent
  source: 'here' | 'bus' | 'log'
}

/** What the hub did so far. Plain numbers: an audience of thousands must not pay for being counted. */
export interface HubCounts {
  delivered: number
  fills: number
  filled: number
  pages: number
  resyncs: number
  resumed: { nothing_missed: number; ring: number; log: number }
}

const REORDER_GRACE_MS = 25
const RECONCILE_MS = 2_000
const SUSPECT_RECONCILE_MS = 500
const RETRY_MS = 500
const LINGER_MS = 30_000
const RING_EVENTS = 256
const RING_BYTES = 1_048_576
const SLICE = 500
/** A slice ends earlier when it takes long; the clock is looked at every so many viewers. */
const SLICE_MS = 4
const STRIDE = 25
const SLOW_MS = 15_000
const SLOW_BYTES = 4 * 1_048_576
/** How many bytes slow viewers may hold in total. Memory that several of them share counts once. */
const SLOW_TOTAL_BYTES = 64 * 1_048_576

/** A viewer's place: what he is to be given next. */
interface Subscription {
  viewer: Viewer
  next: number
  /** Since when, and at which byte of the board's stream, he takes no more. */
  full: { since: number; atByte: number; atSeq: number; held: Held } | undefined
  isReading: boolean
}

/** One board on this instance. */
interface BoardChannel {
  board_id: string
  epoch: number
  /** Everything up to here has been taken from the bell or the log, without a gap. */
  last: number
  /** The highest number that is known to exist. */
  target: number
  /** The highest number that the bell told of. */
  heard: number
  hold: Map<number, LiveEvent>
  ring: LiveEvent[]
  ringBytes: number
  total_bytes: number
  seats: Map<Viewer, Subscription>
  pages: Map<number, Subscription[]>
  /** The newest batch handed out, shared by all who stand at the same place. */
  batch: readonly LiveEvent[]
  /** What was taken and is on its way to the viewers. */
  taken: Taken[]
  isFilling: boolean
  isPumping: boolean
  isWaiting: boolean
  stopLinger: (() => void) | undefined
}

/**
 * Brings every event of a board to every viewer of it on this instance: in order, without a gap, once. The bell is
 * fast and may lose, repeat or reorder; what counts is the log. Each viewer has the number he is to be given next, and is
 * brought up to date from the ring of recent events or from the log, however far behind he is: a live viewer, one who
 * resumes and one who was too slow are the same case.
 */
export class Hub {
  readonly counts: HubCounts = {
    delivered: 0,
    fills: 0,
    filled: 0,
    pages: 0,
    resyncs: 0,
    resumed: { nothing_missed: 0, ring: 0, log: 0 },
  }
  private readonly stages = new Map<string, BoardChannel>()
  private readonly full = new Map<Subscription, BoardChannel>()
  /** What slow viewers hold, and how many of them hold it. */
  private readonly held = new Map<Held, number>()
  private heldBytes = 0
  private readonly outside: HubEnvironment
  private isSuspect = false
  private stopReconcile: () => void

  constructor(outside: HubEnvironment) {
    this.outside = outside
    this.stopReconcile = () => {}
    this.scheduleReconcile()
  }

  /** Seats a viewer whose membership was just read. `since` is where he left off. */
  join(board_id: string, epoch: number, viewer: Viewer, since?: Head) {
    const stage = this.stages.get(board_id) ?? this.open(board_id, epoch, viewer.enteredAt)
    stage.stopLinger?.()
    stage.stopLinger = undefined
    if (stage.epoch !== epoch) this.restart(stage, { epoch, seq: viewer.enteredAt })
    const isKnown = since === undefined || (since.epoch === epoch && since.seq <= viewer.enteredAt)
    if (!isKnown) {
      this.counts.resyncs++
      viewer.resync({ epoch, seq: viewer.enteredAt })
    }
    // From the moment his membership was read: a removal after it reaches him as an event, however the two race.
    const next = (isKnown ? (since?.seq ?? viewer.enteredAt) : viewer.enteredAt) + 1
    const seat: Subscription = { viewer, next, full: undefined, isReading: false }
    stage.seats.set(viewer, seat)
    this.fill(stage, viewer.enteredAt)
    this.serve(stage, seat)
    if (since === undefined || !isKnown) return
    this.counts.resumed[next > viewer.enteredAt ? 'nothing_missed' : seat.isReading ? 'log' : 'ring']++
  }

  leave(board_id: string, viewer: Viewer) {
    const stage = this.stages.get(board_id)
    const seat = stage?.seats.get(viewer)
    if (!stage || !seat) return
    stage.seats.delete(viewer)
    this.release(seat)
    if (stage.seats.size > 0) return
    // Whoever comes back soon finds the ring and the subscription as he left them.
    stage.stopLinger = this.outside.after(LINGER_MS, () => {
      this.stages.delete(board_id)
      this.outside.unsubscribe(board_id)
    })
  }

  /** The bell: an event that was committed here or elsewhere. */
  heard(board_id: string, epoch: number, event: LiveEvent) {
    const stage = this.stages.get(board_id)
    if (!stage || epoch !== stage.epoch || event.seq <= stage.last) return
    stage.heard = Math.max(stage.heard, event.seq)
    // The others are in the log, which may take a while to be reached.
    if (stage.hold.size < RING_EVENTS || event.seq === stage.last + 1) stage.hold.set(event.seq, event)
    this.takeHeld(stage)
  }

  /** An event exists that was too large to be sent along: it is read from the log at once. */
  announced(board_id: string, epoch: number, seq: number) {
    const stage = this.stages.get(board_id)
    if (stage && epoch === stage.epoch) this.fill(stage, seq)
  }

  /** The viewer's buffer has room again. */
  drained(board_id: string, viewer: Viewer) {
    const stage = this.stages.get(board_id)
    const seat = stage?.seats.get(viewer)
    if (!stage || !seat?.full) return
    this.release(seat)
    this.serve(stage, seat)
  }

  /** Whether the bell may be deaf: then the log is asked more often. */
  suspect(isSuspect: boolean) {
    if (this.isSuspect === isSuspect) return
    this.isSuspect = isSuspect
    this.stopReconcile()
    this.reconcile()
    this.scheduleReconcile()
  }

  /** Lets go of viewers who take nothing any more. To be called every second. */
  dropSlow() {
    const now = this.outside.now()
    for (const [seat, stage] of this.full) {
      if (!seat.full) continue
      // One large event is nobody's fault.
      const isFarBehind = stage.total_bytes - seat.full.atByte > SLOW_BYTES && stage.last > seat.full.atSeq + 1
      if (now - seat.full.since >= SLOW_MS || isFarBehind) this.dismiss(stage, seat, 'slow')
    }
  }

  /** Counts what a viewer holds that can take no more. Above the total, viewers of the users who hold the most are closed. */
  private markFull(stage: BoardChannel, seat: Subscription, held: Held) {
    seat.full = { since: this.outside.now(), atByte: stage.total_bytes, atSeq: stage.last, held }
    this.full.set(seat, stage)
    const holders = this.held.get(held) ?? 0
    this.held.set(held, holders + 1)
    if (holders > 0) return
    this.heldBytes += held.length
    if (this.isOverTotal()) this.dropLargest()
  }

  private release(seat: Subscription) {
    if (!seat.full) return
    const { held } = seat.full
    seat.full = undefined
    this.full.delete(seat)
    const holders = (this.held.get(held) ?? 0) - 1
    if (holders > 0) return void this.held.set(held, holders)
    this.held.delete(held)
    this.heldBytes -= held.length
  }

  /** An event may be larger than the total, and is delivered when nothing else is held. */
  private isOverTotal() {
    return this.heldBytes > SLOW_TOTAL_BYTES && this.held.size > 1
  }

  private dropLargest() {
    const byUser = new Map<string, { held: Set<Held>; seats: Subscription[] }>()
    for (const seat of this.full.keys()) {
      if (!seat.full) continue
      const { user_id } = seat.viewer
      const user = byUser.get(user_id) ?? { held: new Set(), seats: [] }
      byUser.set(user_id, user)
      user.held.add(seat.full.held)
      user.seats.push(seat)
    }
    const sizes = Array.from(byUser.values(), ({ held, seats }) => ({
      bytes: [...held].reduce((sum, { length }) => sum + length, 0),
      seats,
    }))
    sizes.sort((a, b) => b.bytes - a.bytes)
    for (const { seats } of sizes) {
      if (!this.isOverTotal()) return
      for (const seat of seats) {
        const stage = this.full.get(seat)
        if (stage) this.dismiss(stage, seat, 'slow')
      }
    }
  }

  /** Asks the log for the heads of all boards here, whatever the bell says. */
  reconcile() {
    const before = new Map([...this.stages.values()].map((stage) => [stage, stage.last]))
    if (before.size === 0) return
    this.outside.readHeads([...this.stages.keys()], (heads) => {
      let lost = 0
      for (const [stage, last] of before) {
        const head = heads?.get(stage.board_id)
        if (!head || this.stages.get(stage.board_id) !== stage) continue
        if (head.epoch === stage.epoch && head.seq < last) lost++
        if (head.epoch !== stage.epoch || head.seq < last) this.restart(stage, head)
        else this.fill(stage, head.seq)
      }
      if (lost > 0) this.outside.lost?.(lost)
    })
  }

  /** How many boards there are here, and who takes nothing at the moment. */
  state(): { boards: number; slow: Viewer[] } {
    return { boards: this.stages.size, slow: Array.from(this.full.keys(), ({ viewer }) => viewer) }
  }

  /** The number of the last event that this instance has of a board. */
  positionOf(board_id: string): number {
    return this.stages.get(board_id)?.last ?? 0
  }

  close() {
    this.stopReconcile()
  }

  private scheduleReconcile() {
    const usual = this.isSuspect ? SUSPECT_RECONCILE_MS : RECONCILE_MS
    this.stopReconcile = this.outside.after(usual * (0.9 + 0.2 * this.outside.random()), () => {
      this.reconcile()
      this.scheduleReconcile()
    })
  }

  private open(board_id: string, epoch: number, last: number): BoardChannel {
    const stage: BoardChannel = {
      board_id,
      epoch,
      last,
      target: last,
      heard: last,
      hold: new Map(),
      ring: [],
      ringBytes: 0,
      total_bytes: 0,
      seats: new Map(),
      pages: new Map(),
      batch: [],
      taken: [],
      isFilling: false,
      isPumping: false,
      isWaiting: false,
      stopLinger: undefined,
    }
    this.stages.set(board_id, stage)
    // What was committed before the bell could be heard is found by asking once it can.
    this.outside.subscribe(board_id, () => this.probe(stage))
    return stage
  }

  /** Reading the head says that there is more; it never moves the position. */
  private probe(stage: BoardChannel) {
    this.outside.readHeads([stage.board_id], (heads) => {
      const head = heads?.get(stage.board_id)
      if (head?.epoch === stage.epoch) this.fill(stage, head.seq)
    })
  }

  /** The log went back in time: a restore, or a failover that lost commits. Nobody's position means anything any more. */
  private restart(stage: BoardChannel, head: Head) {
    Object.assign(stage, {
      epoch: head.epoch,
      last: head.seq,
      target: head.seq,
      heard: head.seq,
      ring: [],
      ringBytes: 0,
      batch: [],
      taken: [],
    })
    stage.hold.clear()
    for (const seat of [...stage.seats.values()]) {
      if (!seat.viewer.knowsSeq) this.dismiss(stage, seat, 'restored')
      else this.tellGone(stage, seat)
    }
  }

  private takeHeld(stage: BoardChannel) {
    for (let next = stage.hold.get(stage.last + 1); next; next = stage.hold.get(stage.last + 1)) {
      this.take(stage, next, next.committedAt === undefined ? 'bus' : 'here')
    }
    if (stage.heard <= stage.last || stage.isWaiting) return
    stage.isWaiting = true
    this.outside.after(REORDER_GRACE_MS, () => {
      stage.isWaiting = false
      if (stage.heard > stage.last) this.fill(stage, stage.heard)
    })
  }

  /** Reads from the log what the bell did not bring, one page at a time. */
  private fill(stage: BoardChannel, target: number) {
    stage.target = Math.max(stage.target, target)
    if (stage.isFilling || stage.last >= stage.target) return
    stage.isFilling = true
    this.counts.fills++
    const { epoch } = stage
    const take = (events: LiveEvent[] | undefined) => {
      stage.isFilling = false
      if (stage.epoch !== epoch) return
      const before = stage.last
      for (const event of events ?? []) this.take(stage, event, 'log')
      this.takeHeld(stage)
      if (stage.last > before) this.fill(stage, stage.target)
    }
    this.outside.readEvents(stage.board_id, stage.last, take, { key: stage.board_id, viewers: () => stage.seats.size })
  }

  /** The next event, and only the next, moves the position. The end of a board leaves no history before it. */
  private take(stage: BoardChannel, event: LiveEvent, source: Taken['source']) {
    stage.hold.delete(event.seq)
    if (event.seq !== stage.last + 1 && !(event.type === 'board.deleted' && event.seq > stage.last)) return
    stage.last = event.seq
    if (source === 'log') this.counts.filled++
    if (this.outside.delivered) stage.taken.push({ event, source })
    stage.target = Math.max(stage.target, event.seq)
    stage.total_bytes += event.body.length
    stage.ringBytes += event.body.length
    stage.ring.push(event)
    // An event that is larger than the ring is not kept: viewers read it from the log, and share the page.
    while (stage.ring.length > RING_EVENTS || stage.ringBytes > RING_BYTES) {
      stage.ringBytes -= stage.ring.shift()?.body.length ?? 0
    }
    this.pump(stage)
  }

  /** Serves everybody, some at a time, so that a large audience never holds the process. */
  private pump(stage: BoardChannel) {
    if (stage.isPumping) return
    stage.isPumping = true
    const { last } = stage
    this.outside.soon(() => this.pumpSlice(stage, stage.seats.values(), last))
  }

  private pumpSlice(stage: BoardChannel, seats: MapIterator<Subscription>, last: number) {
    const end = this.outside.now() + SLICE_MS
    for (let i = 1; i <= SLICE; i++) {
      const { value: seat, done } = seats.next()
      if (done) {
        stage.isPumping = false
        this.tellDelivered(stage, last)
        if (stage.last > last) this.pump(stage)
        return
      }
      this.serve(stage, seat)
      if (i % STRIDE === 0 && this.outside.now() > end) break
    }
    this.outside.soon(() => this.pumpSlice(stage, seats, last))
  }

  /** Everybody was given what there was as the round began. Who came late to his own seat reads it from the log. */
  private tellDelivered(stage: BoardChannel, last: number) {
    const done = stage.taken.filter(({ event }) => event.seq <= last)
    if (done.length === 0) return
    stage.taken = stage.taken.slice(done.length)
    if (stage.seats.size > 0) for (const taken of done) this.outside.delivered?.(taken)
  }

  /** Brings one viewer up to date, as far as he can take it. */
  private serve(stage: BoardChannel, seat: Subscription) {
    while (!seat.full && !seat.isReading && seat.next <= stage.last && stage.seats.get(seat.viewer) === seat) {
      const events = this.recent(stage, seat.next)
      if (!events) return this.readPage(stage, seat)
      this.deliver(stage, seat, events)
    }
  }

  /** The events from `next` on, if the ring still has them; one shared array for all who need the same. */
  private recent(stage: BoardChannel, next: number): readonly LiveEvent[] | undefined {
    if (stage.batch[0]?.seq === next && stage.batch.at(-1)?.seq === stage.last) return stage.batch
    const start = stage.ring.findIndex((event) => event.seq >= next)
    const first = stage.ring[start]
    if (!first || (first.seq !== next && first.type !== 'board.deleted')) return undefined
    stage.batch = stage.ring.slice(start)
    return stage.batch
  }

  private deliver(stage: BoardChannel, seat: Subscription, events: readonly LiveEvent[]) {
    const { viewer } = seat
    const cut = events.findIndex((event) => isLastFor(viewer, event))
    const given = cut === -1 ? events : events.slice(0, cut + 1)
    const newest = given.at(-1) as LiveEvent
    const held = viewer.write(given)
    seat.next = newest.seq + 1
    this.counts.delivered += given.length
    if (cut !== -1) return this.dismiss(stage, seat, newest.type === 'board.deleted' ? 'deleted' : 'removed')
    if (held) this.markFull(stage, seat, held)
  }

  /** Asks the log for what the ring no longer has. Viewers at the same place share one question. */
  private readPage(stage: BoardChannel, seat: Subscription) {
    seat.isReading = true
    const after = seat.next - 1
    const waiting = stage.pages.get(after)
    if (waiting) return void waiting.push(seat)
    const seats = [seat]
    stage.pages.set(after, seats)
    this.counts.pages++
    const { epoch } = stage
    const take = (events: LiveEvent[] | undefined) => {
      stage.pages.delete(after)
      for (const reader of seats) {
        reader.isReading = false
        if (stage.seats.get(reader.viewer) !== reader || stage.epoch !== epoch || reader.next !== after + 1) continue
        if (events) this.takePage(stage, reader, events)
        else this.outside.after(RETRY_MS, () => this.serve(stage, reader))
      }
    }
    // By user: one user can resume on many boards.
    this.outside.readEvents(stage.board_id, after, take, { key: seat.viewer.user_id, viewers: () => seats.length })
  }

  private takePage(stage: BoardChannel, seat: Subscription, events: LiveEvent[]) {
    const [first] = events
    if (first && (first.seq === seat.next || first.type === 'board.deleted')) {
      this.deliver(stage, seat, events)
      this.serve(stage, seat)
    } else if (seat.viewer.knowsSeq) {
      this.tellGone(stage, seat)
    } else {
      this.dismiss(stage, seat, 'slow')
    }
  }

  /** What he needs is no longer there: he must load the board, and goes on from here. */
  private tellGone(stage: BoardChannel, seat: Subscription) {
    seat.next = stage.last + 1
    this.counts.resyncs++
    seat.viewer.resync({ epoch: stage.epoch, seq: stage.last })
  }

  private dismiss(stage: BoardChannel, seat: Subscription, why: EvictionReason) {
    this.leave(stage.board_id, seat.viewer)
    seat.viewer.end(why)
  }
}

/** After his own removal, or the board's, a viewer is given nothing. */
const isLastFor = (viewer: Viewer, { type, seq, subject_id }: LiveEvent) =>
  type === 'board.deleted' ||
  (type === 'board.member_removed' && subject_id === viewer.user_id && seq > viewer.enteredAt)
