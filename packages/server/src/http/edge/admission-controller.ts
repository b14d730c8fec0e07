import { FairQueue } from '../../platform/fair-queue.ts'
import { FairShare } from '../../platform/fair-share.ts'
import type { ReleasableSlot } from '../../platform/slot.ts'

/** Maximum number of queued requests. */
const MAX_QUEUED = 1_000
/** How long a request may wait in a queue that has just formed. */
const BURST_WAIT_MS = 500
/** How long a request may wait once the queue has not been empty for `BURST_WAIT_MS`. */
const STANDING_WAIT_MS = 100
/** Open requests per slot. Those beyond one released their slot; what they wait for has a limit of its own. */
export const OPEN_REQUESTS_PER_SLOT = 32
/** When more than half of the allowed requests are open, one user or one address may have this part of them. */
const SHARE_OF_ONE = 1 / 32
/** Counts the open requests of each address, or of each user. */
export const openRequestShares = (slots: number) => {
  const max = slots * OPEN_REQUESTS_PER_SLOT
  return new FairShare(max, max * SHARE_OF_ONE)
}

interface QueuedRequest {
  key: string
  queuedAt: number
  start: (slot: Slot) => void
  reject: () => void
  isAborted: boolean
}
export interface AdmissionSettings {
  /** How many requests run at once. */
  slots: number
  now: () => number
  /** Called with the time that each request waited, also when it was rejected. */
  onWait?: (seconds: number) => void
}

/**
 * Admission control with CoDel: a limited number of requests run at once, which is what the database can use; others queue.
 * A burst may wait for half a second. A queue that stands for longer is overload: then requests wait at most 100 ms, and the
 * queue is no longer than the number of requests that were started in that time. An admitted request is answered soon, and
 * a rejected one hears it at once.
 */
export class AdmissionController {
  private readonly settings: AdmissionSettings
  /** By address: the next request is one of the address with the fewest running. */
  private readonly queue = new FairQueue<QueuedRequest>()
  private running = 0
  private isStarting = false
  private open = 0
  /** When the queue was last empty, with no rejection for a while before. */
  private calmAt: number
  private rejectedAt = Number.NEGATIVE_INFINITY
  /** How many requests were started in the current interval of `STANDING_WAIT_MS`, and in the one before. */
  private intervalBeganAt: number
  private started = 0
  private startedBefore = 0

  constructor(settings: AdmissionSettings) {
    this.settings = settings
    this.calmAt = settings.now()
    this.intervalBeganAt = this.calmAt
  }

  get waiting(): number {
    return this.queue.size
  }

  /**
   * Calls `start` or `reject`, at once or later. Returns how to abort a queued request; undefined when it was rejected at
   * once. `key` is the address of the client, or empty when addresses do not matter.
   */
  request(start: (slot: Slot) => void, reject: () => void, key = ''): (() => void) | undefined {
    const now = this.settings.now()
    const request: QueuedRequest = { key, queuedAt: now, start, reject, isAborted: false }
    // Slots that were all in use for a while are not a queue.
    if (this.queue.size === 0) this.noteCalm(now)
    if (this.hasRoom() && this.queue.size === 0) this.start(request, now)
    else if (this.queue.size < this.maxQueued(now) || this.rejectExcess(key, now)) this.queue.push(key, request)
    else {
      this.reject(request, now)
      return undefined
    }
    return () => {
      request.isAborted = true
    }
  }

  /** Makes room in a full queue for an address that has fewer requests in it than another. */
  private rejectExcess(key: string, now: number): boolean {
    const last = this.queue.excess(key)
    if (!last) return false
    this.queue.remove(last.key, last)
    this.reject(last, now)
    return true
  }

  /** Rejects requests that waited too long. To be called every few milliseconds. */
  tick() {
    const now = this.settings.now()
    if (now - this.intervalBeganAt >= STANDING_WAIT_MS) {
      this.intervalBeganAt = now
      this.startedBefore = this.started
      this.started = 0
    }
    const maxWaitMs = this.isStanding(now) ? STANDING_WAIT_MS : BURST_WAIT_MS
    for (let late = this.late(now - maxWaitMs); late.length > 0; late = this.late(now - maxWaitMs)) {
      for (const request of late) {
        this.queue.remove(request.key, request)
        this.reject(request, now)
      }
    }
  }

  /** The first request of each address, if it was queued before `since` or is aborted. */
  private late(since: number): QueuedRequest[] {
    if (this.queue.size === 0) return []
    return this.queue.heads().filter(({ isAborted, queuedAt }) => isAborted || queuedAt < since)
  }

  private isStanding(now: number) {
    return now - this.calmAt > BURST_WAIT_MS
  }

  private maxQueued(now: number) {
    return this.isStanding(now) ? Math.max(1, this.started, this.startedBefore) : MAX_QUEUED
  }

  private hasRoom() {
    const { slots } = this.settings
    return this.running < slots && this.open < slots * OPEN_REQUESTS_PER_SLOT
  }

  private start({ key, queuedAt, start }: QueuedRequest, now: number) {
    this.started++
    this.open++
    this.acquire(key)
    this.settings.onWait?.((now - queuedAt) / 1_000)
    start(new Slot(this, key))
  }

  private reject({ queuedAt, reject, isAborted }: QueuedRequest, now: number) {
    if (isAborted) return
    this.rejectedAt = now
    this.settings.onWait?.((now - queuedAt) / 1_000)
    reject()
  }

  /** Starts queued requests while there is room. Not reentrant: a request that ends at once would start the next within itself. */
  private startNext() {
    if (this.isStarting) return
    this.isStarting = true
    try {
      const now = this.settings.now()
      while (this.hasRoom()) {
        const request = this.queue.peek()
        if (!request) return this.noteCalm(now)
        this.queue.remove(request.key, request)
        if (!request.isAborted) this.start(request, now)
      }
    } finally {
      this.isStarting = false
    }
  }

  /** A queue that is empty because its requests were rejected is not calm. */
  private noteCalm(now: number) {
    if (now - this.rejectedAt > BURST_WAIT_MS) this.calmAt = now
  }

  acquire(key: string) {
    this.running++
    this.queue.start(key)
  }

  release(key: string) {
    this.running--
    this.queue.stop(key)
    this.startNext()
  }

  close() {
    this.open--
    this.startNext()
  }
}

/**
 * The concurrency slot of a request. It is released while the request waits for something that others need not wait for
 * (its own body, its board, password hashing), and reacquired afterwards without queueing again.
 */
export class Slot implements ReleasableSlot {
  private readonly controller: Pick<AdmissionController, 'acquire' | 'release' | 'close'>
  private readonly key: string
  private isHeld = true
  private isClosed = false
  private onClose: (() => void) | undefined

  constructor(controller: Slot['controller'], key: string) {
    this.controller = controller
    this.key = key
  }

  release() {
    if (!this.isHeld) return
    this.isHeld = false
    this.controller.release(this.key)
  }

  reacquire() {
    if (this.isHeld || this.isClosed) return
    this.isHeld = true
    this.controller.acquire(this.key)
  }

  /** Ends the request: the slot is not reacquired. */
  close() {
    if (this.isClosed) return
    this.isClosed = true
    this.release()
    this.controller.close()
    this.onClose?.()
  }

  /** Calls `release` when the request ends, after those that were added before. */
  releaseOnClose(release: () => void) {
    const { onClose } = this
    if (this.isClosed) release()
    else if (!onClose) this.onClose = release
    else
      this.onClose = () => {
        onClose()
        release()
      }
  }

  async releaseWhile<T>(wait: () => Promise<T>): Promise<T> {
    this.release()
    try {
      return await wait()
    } finally {
      this.reacquire()
    }
  }
}
