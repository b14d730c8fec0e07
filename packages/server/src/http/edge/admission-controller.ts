import { FairQueue } from '../../platform/fair-queue.ts'
import { FairShare } from '../../platform/fair-share.ts'

/** How long the line may be. What comes on top of it is sent away at once. */
const MAX_WAITING = 1_000
/** So long a rush is waited out. */
const PATIENCE_MS = 500
/** So long somebody waits when there has been a line for longer than that: it will not go away by waiting. */
const STANDING_PATIENCE_MS = 100
/** For each place, requests that stepped aside: they wait for something that has a bound of its own. */
export const OPEN_FOR_EACH_PLACE = 32
/** Once half of the requests that may be open are, one user or one address may have this part of them. */
const PART_OF_ONE = 1 / 32
/** The open requests of each address, or of each user. */
export const openRequestShares = (places: number) => {
  const max = places * OPEN_FOR_EACH_PLACE
  return new FairShare(max, max * PART_OF_ONE)
}

interface Waiting {
  key: string
  came_at: number
  begin: (place: Place) => void
  refuse: () => void
  hasLeft: boolean
}
export interface AdmissionSettings {
  /** How many are let in at once. */
  places: number
  now: () => number
  /** Told how long each had to wait, also who was sent away. */
  waited?: (seconds: number) => void
}

/**
 * Who is let in, and who is sent away before any work was done for him. A few at a time have a place, which is what
 * the database can do with; others stand in line. A rush is waited out for half a second. A line that stands for longer
 * than that is no rush: from then on nobody waits for more than a tenth of a second, and the line is no longer than what
 * was let in within one; so whoever is let in is answered soon, and whoever is not hears it at once. (CoDel, as it is used
 * before servers.)
 */
export class Admission {
  private readonly settings: AdmissionSettings
  /** By address: while there is a line, those are let in first whose address has the fewest places. */
  private readonly line = new FairQueue<Waiting>()
  private working = 0
  private isLettingIn = false
  private open = 0
  /** When there was last a place for somebody who came, and nobody had been sent away for a while. */
  private calm_at: number
  private refused_at = Number.NEGATIVE_INFINITY
  /** How many were let in since then, and in as long a time before. */
  private since: number
  private let_in = 0
  private let_in_before = 0

  constructor(settings: AdmissionSettings) {
    this.settings = settings
    this.calm_at = settings.now()
    this.since = this.calm_at
  }

  get waiting(): number {
    return this.line.size
  }

  /**
   * Calls one of the two, at once or later. Answers how to leave the line or the place; nothing when it is over already.
   * `key` is the address of the client, or empty when addresses do not matter.
   */
  enter(begin: (place: Place) => void, refuse: () => void, key = ''): (() => void) | undefined {
    const came_at = this.settings.now()
    const one: Waiting = { key, came_at, begin, refuse, hasLeft: false }
    // Places that were all taken for a while are no line.
    if (this.line.size === 0) this.noteCalm(came_at)
    if (this.hasRoom() && this.line.size === 0) this.letIn(one, came_at)
    else if (this.line.size < this.longestLine(came_at) || this.dropExcess(key, came_at)) this.line.push(key, one)
    else {
      this.sendAway(one, came_at)
      return undefined
    }
    return () => {
      one.hasLeft = true
    }
  }

  /** A full line has room for an address that has fewer in it than another one. */
  private dropExcess(key: string, now: number): boolean {
    const last = this.line.excess(key)
    if (!last) return false
    this.line.remove(last.key, last)
    this.sendAway(last, now)
    return true
  }

  /** Sends those away who have waited too long. To be called every few milliseconds. */
  tick() {
    const now = this.settings.now()
    if (now - this.since >= STANDING_PATIENCE_MS) {
      this.since = now
      this.let_in_before = this.let_in
      this.let_in = 0
    }
    const patience = this.isStanding(now) ? STANDING_PATIENCE_MS : PATIENCE_MS
    for (let late = this.late(now - patience); late.length > 0; late = this.late(now - patience)) {
      for (const one of late) {
        this.line.remove(one.key, one)
        this.sendAway(one, now)
      }
    }
  }

  /** Those at the front of their queues who came before `since`, or have left. */
  private late(since: number): Waiting[] {
    if (this.line.size === 0) return []
    return this.line.heads().filter(({ hasLeft, came_at }) => hasLeft || came_at < since)
  }

  private isStanding(now: number) {
    return now - this.calm_at > PATIENCE_MS
  }

  private longestLine(now: number) {
    return this.isStanding(now) ? Math.max(1, this.let_in, this.let_in_before) : MAX_WAITING
  }

  private hasRoom() {
    const { places } = this.settings
    return this.working < places && this.open < places * OPEN_FOR_EACH_PLACE
  }

  private letIn({ key, came_at, begin }: Waiting, now: number) {
    this.let_in++
    this.open++
    this.start(key)
    this.settings.waited?.((now - came_at) / 1_000)
    begin(new Place(this, key))
  }

  private sendAway({ came_at, refuse, hasLeft }: Waiting, now: number) {
    if (hasLeft) return
    this.refused_at = now
    this.settings.waited?.((now - came_at) / 1_000)
    refuse()
  }

  /** Not from within itself: whoever is answered at once leaves while the next is being let in, and so would the one after him. */
  private next() {
    if (this.isLettingIn) return
    this.isLettingIn = true
    try {
      const now = this.settings.now()
      while (this.hasRoom()) {
        const one = this.line.peek()
        if (!one) return this.noteCalm(now)
        this.line.remove(one.key, one)
        if (!one.hasLeft) this.letIn(one, now)
      }
    } finally {
      this.isLettingIn = false
    }
  }

  /** A line that is empty because everybody was sent away is no sign of calm. */
  private noteCalm(now: number) {
    if (now - this.refused_at > PATIENCE_MS) this.calm_at = now
  }

  start(key: string) {
    this.working++
    this.line.start(key)
  }

  stop(key: string) {
    this.working--
    this.line.stop(key)
    this.next()
  }

  close() {
    this.open--
    this.next()
  }
}

/**
 * A place among those who are worked for. Whoever waits for something that others need not wait for (his own bytes, his
 * board's turn, his password's) steps aside meanwhile, and comes back without standing in line again.
 */
export class Place {
  private readonly admission: Pick<Admission, 'start' | 'stop' | 'close'>
  private readonly key: string
  private isHeld = true
  private isOver = false
  private release: (() => void) | undefined

  constructor(admission: Place['admission'], key: string) {
    this.admission = admission
    this.key = key
  }

  stepAside() {
    if (!this.isHeld) return
    this.isHeld = false
    this.admission.stop(this.key)
  }

  comeBack() {
    if (this.isHeld || this.isOver) return
    this.isHeld = true
    this.admission.start(this.key)
  }

  /** For good. */
  leave() {
    if (this.isOver) return
    this.isOver = true
    this.stepAside()
    this.admission.close()
    this.release?.()
  }

  /** Ties something to the request: it is released when the request is over. */
  hold(release: () => void) {
    if (this.isOver) release()
    else this.release = release
  }

  async aside<T>(wait: () => Promise<T>): Promise<T> {
    this.stepAside()
    try {
      return await wait()
    } finally {
      this.comeBack()
    }
  }
}
