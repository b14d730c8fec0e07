import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { KeyCounts } from '../platform/key-counts.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { type ReleasableSlot, waitWithout } from '../platform/slot.ts'

/** The part of the slots that one user, or one address without a login, may hold. */
const SHARE = 1 / 4
/** Together with the work itself, accepted requests are answered within a second. Longer queues only make all of them late. */
const MAX_WAITING = 200
const WAIT_MS = 500
/** How many requests of one user may be open: waiting, sending a body, or reading a response. */
const OPEN_PER_USER = 64
/** The same for an address without a login, behind which many users can be. */
const OPEN_PER_ADDRESS = 128

const SLOT = Symbol('slot')
type WithSlot = FastifyRequest & { [SLOT]?: Slot }

/** The slot of a request. Requests of probes have none. */
export const slotOf = (request: WithSlot): Slot | undefined => request[SLOT]
export const releaseSlotWhile = <T>(request: FastifyRequest, wait: () => Promise<T>): Promise<T> =>
  waitWithout(slotOf(request), wait)

/** The one queue in front of work. A limited number of requests run at once, fairly by user. */
export class Admission {
  private readonly semaphore: Semaphore
  private readonly open = new KeyCounts()
  private readonly isFair: boolean

  constructor(slots: number, { isFair }: { isFair: boolean }, onWait?: (seconds: number) => void) {
    const limit = { maxWaiting: MAX_WAITING, waitMs: WAIT_MS, reject: () => new Problem('overloaded') }
    const share = isFair ? Math.max(1, Math.ceil(slots * SHARE)) : slots
    this.isFair = isFair
    this.semaphore = new Semaphore(slots, { ...limit, share }, onWait)
  }

  get waiting() {
    return this.semaphore.waiting
  }

  /** Whether a request that needs a slot would be rejected. */
  get isFull() {
    return this.waiting >= MAX_WAITING
  }

  /** Work beside requests, such as a page of the log for a socket. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.semaphore.run(work, { key })
  }

  /** Called in a hook, once the user is known. */
  async enter(request: WithSlot, reply: FastifyReply, key: string, { isUser }: { isUser: boolean }) {
    const maxOpen = isUser ? OPEN_PER_USER : OPEN_PER_ADDRESS
    if (this.isFair && this.open.of(key) >= maxOpen) throw new Problem('too_many_requests', { retryAfterSeconds: 1 })
    const { socket } = request.raw
    if (reply.raw.destroyed || socket.destroyed) throw new Problem('request_incomplete')
    this.open.add(key)
    const close = () => {
      reply.raw.off('close', close)
      // When a connection ends, Node closes only the response that is being sent, not those of pipelined requests.
      socket.off('close', close)
      slot.close()
    }
    const slot = new Slot(this.semaphore, key, () => this.open.add(key, -1))
    reply.raw.on('close', close)
    socket.setMaxListeners(0).on('close', close)
    request[SLOT] = slot
    await slot.enter()
  }

  /** A response that is being sent needs no more work: a slow reader holds no slot. */
  install(app: FastifyInstance) {
    app.addHook('onSend', (request, _reply, _payload, done) => {
      slotOf(request)?.release()
      done()
    })
  }
}

/** The slot of a request: entered while it works, released while it waits for something else. */
export class Slot implements ReleasableSlot {
  private readonly semaphore: Semaphore
  private readonly key: string
  private readonly onEnd: () => void
  private permit: (() => void) | undefined
  private working = 0
  private isClosed = false
  private isEnded = false

  constructor(semaphore: Semaphore, key: string, onEnd: () => void) {
    this.semaphore = semaphore
    this.key = key
    this.onEnd = onEnd
  }

  /** Waits for a permit. A request whose client left meanwhile is not started. */
  enter(): Promise<void> {
    return this.run(async () => {
      const permit = await this.semaphore.acquire(this.key)
      if (!this.isClosed) this.permit = permit
      else {
        permit()
        throw new Problem('request_incomplete')
      }
    })
  }

  /** Runs work of the request. It counts until it ends, also when its client has left: its statements still run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isEnded) throw new Problem('request_incomplete')
    this.working++
    try {
      return await work()
    } finally {
      this.working--
      this.endIfOver()
    }
  }

  release() {
    this.permit?.()
    this.permit = undefined
  }

  /** The client has left, or its response was sent. */
  close() {
    this.isClosed = true
    this.endIfOver()
  }

  private endIfOver() {
    if (!this.isClosed || this.isEnded || this.working > 0) return
    this.isEnded = true
    this.release()
    this.onEnd()
  }

  /** Taken back without queueing: what it waited for, such as the turn of a board, must not wait for the queue. */
  async releaseWhile<T>(wait: () => Promise<T>): Promise<T> {
    this.release()
    try {
      return await wait()
    } finally {
      this.permit = this.semaphore.take(this.key)
    }
  }
}
