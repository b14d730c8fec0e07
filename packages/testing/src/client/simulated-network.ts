import type { Api, LiveRequestOptions, LiveResponse } from '../../../client/src/live/api.ts'
import type { Environment, SocketLike } from '../../../client/src/live/environment.ts'
import type { Change } from '../../../client/src/live/types.ts'
import { mulberry32 } from '../prng.ts'
import { clone, type ModelServer, Rejected } from './model-server.ts'
import { smallServer } from './sample-board.ts'

interface Task {
  at: number
  nth: number
  work: () => void
}

class SimulatedSocket implements SocketLike {
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  /** Silently drops everything. */
  isDead = false
  isOpen = true
  next = 0
  pongs = 0
  private readonly onClosed: () => void

  constructor(left: () => void) {
    this.onClosed = left
  }

  send() {
    if (!this.isDead) this.pongs++
  }

  close() {
    this.isOpen = false
    this.onClosed()
  }
}

class HttpFailure extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** A service and its network in simulated time. The test injects the faults. */
export class SimulatedNetwork {
  now = 0
  readonly server: ModelServer = smallServer()
  readonly random: () => number
  readonly sockets = new Set<SimulatedSocket>()
  /** Times at which WebSockets were opened. */
  readonly openedAt: number[] = []
  isUp = true
  /** A proxy blocks WebSockets. */
  blocksSockets = false
  /** Probability that a request, and that a response, is lost. */
  loss = 0
  /** Probability that a cache responds with an older board. */
  staleness = 0
  /** The status of every response, if set. */
  failWith: number | undefined
  timers = 0
  private tasks: Task[] = []
  private count = 0

  constructor(seed: number) {
    this.random = mulberry32(seed)
    const ping = () => {
      for (const socket of this.sockets) this.sendMessage(socket, { type: 'ping', seq: this.server.seq })
      this.schedule(30_000, ping)
    }
    this.schedule(30_000, ping)
  }

  schedule(delay: number, work: () => void): Task {
    const task = { at: this.now + delay, nth: this.count++, work }
    this.tasks.push(task)
    return task
  }

  /** Advances time. Promises settle between any two tasks. */
  async run(ms: number) {
    const end = this.now + ms
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      let next: Task | undefined
      for (const task of this.tasks)
        if (task.at <= end && (!next || task.at < next.at || (task.at === next.at && task.nth < next.nth))) next = task
      if (!next) break
      this.tasks.splice(this.tasks.indexOf(next), 1)
      this.now = Math.max(this.now, next.at)
      next.work()
    }
    this.now = end
  }

  /** The clients' machine sleeps: time passes without their timers firing. */
  sleep(ms: number) {
    this.now += ms
  }

  environment(wakers: Set<(isOnline: boolean) => void> = new Set()): Environment {
    let made = 0
    const name = this.count++
    return {
      now: () => this.now,
      after: (ms, work) => {
        this.timers++
        let isFinished = false
        const finish = () => {
          if (!isFinished) this.timers--
          isFinished = true
        }
        const task = this.schedule(ms, () => {
          if (isFinished) return
          finish()
          work()
        })
        return () => {
          finish()
          this.tasks = this.tasks.filter((other) => other !== task)
        }
      },
      random: this.random,
      newId: () => `id-${name}-${made++}`,
      openSocket: (url) => this.openSocket(url),
      onWake: (listener) => {
        wakers.add(listener)
        return () => void wakers.delete(listener)
      },
    }
  }

  api(user_id: string): Api {
    return {
      baseUrl: 'http://virtual',
      request: (name, input, options) =>
        new Promise((resolve, reject) => {
          const latency = () => 5 + this.random() * 60
          const lost = () => reject(new Error('network'))
          options.signal.addEventListener('abort', lost)
          this.schedule(latency(), () => {
            if (!this.isUp || this.random() < this.loss) return this.schedule(latency(), lost)
            let response: LiveResponse | HttpFailure
            try {
              response = this.respond(user_id, name, input, options)
            } catch (error) {
              response = error as HttpFailure
            }
            this.deliverEvents()
            const isLost = this.random() < this.loss
            return this.schedule(latency(), () => {
              if (isLost || !this.isUp) lost()
              else if (response instanceof Error) reject(response)
              else resolve(response)
            })
          })
        }),
    }
  }

  /** Closes every WebSocket, as the service does. */
  closeSockets(code: number) {
    for (const socket of [...this.sockets]) this.closeSocket(socket, code)
  }

  /** Stops the service and drops all connections. */
  kill() {
    this.isUp = false
    this.closeSockets(1006)
  }

  deliverEvents() {
    for (const socket of this.sockets) this.deliverTo(socket)
  }

  private respond(
    user_id: string,
    name: string,
    input: Record<string, unknown>,
    options: LiveRequestOptions,
  ): LiveResponse {
    const { server } = this
    const position = `${server.epoch}.${server.seq}`
    if (this.failWith) throw new HttpFailure(this.failWith, 'rejected')
    switch (name) {
      case 'createTicket':
        return { data: { ticket: user_id } }
      case 'getMe':
        return { data: { id: user_id } }
      case 'getPresence':
        return { data: { online_users: [{ user_id, username: user_id }] } }
      case 'getBoard':
        return this.board()
      case 'listEvents': {
        const [epoch = 0, seq = 0] = String(input['after']).split('.').map(Number)
        const events = server.eventsAfter(epoch, seq, Number(input['limit']))
        if (!events) throw new HttpFailure(410, 'history_gone')
        return { data: clone(events), position }
      }
      case 'getCard':
        try {
          const { card, etag } = server.card(input['card_id'])
          return { data: card, etag }
        } catch (error) {
          throw error instanceof Rejected ? new HttpFailure(404, error.message) : error
        }
      default: {
        const { board_id: _, ...fields } = input
        const change = { name, input: fields } as unknown as Change
        const result = server.execute(user_id, options.idempotencyKey ?? '', change, options.ifMatch)
        if (!result.ok) throw new HttpFailure(result.status, result.code)
        return { data: undefined, position: `${result.epoch}.${result.seq}` }
      }
    }
  }

  private board(): LiveResponse {
    const { epoch, seq, firstSeq, history } = this.server
    const isStale = this.random() < this.staleness
    const read = isStale ? Math.max(firstSeq, seq - Math.floor(this.random() * 20)) : seq
    return { data: clone(history[read]), position: `${epoch}.${read}` }
  }

  private openSocket(url: string): SocketLike {
    const { searchParams } = new URL(url)
    const [epoch = 0, seq = 0] = (searchParams.get('since') ?? '').split('.').map(Number)
    const user_id = searchParams.get('token') ?? ''
    const socket: SimulatedSocket = new SimulatedSocket(() => this.sockets.delete(socket))
    this.openedAt.push(this.now)
    this.schedule(10 + this.random() * 40, () => {
      if (!this.isUp || this.blocksSockets) return this.closeSocket(socket, 1006)
      const { server } = this
      this.sockets.add(socket)
      this.sendMessage(socket, { type: 'hello', epoch: server.epoch, seq: server.seq })
      this.sendMessage(socket, { type: 'user_joined', user_id, username: user_id })
      const isKnown = epoch === server.epoch && seq <= server.seq
      if (!isKnown) this.sendMessage(socket, { type: 'resync', epoch: server.epoch, seq: server.seq })
      socket.next = isKnown ? seq : server.seq
      this.deliverTo(socket)
      return undefined
    })
    return socket
  }

  private deliverTo(socket: SimulatedSocket) {
    for (; socket.next < this.server.seq; socket.next++) {
      const { event } = this.server.log[socket.next] as ModelServer['log'][number]
      // A lost event is revealed by the next ping.
      if (this.random() >= this.loss / 4) this.sendMessage(socket, clone(event))
    }
  }

  /** Messages of one WebSocket stay in order. */
  private sendMessage(socket: SimulatedSocket, message: object) {
    this.schedule(20, () => {
      if (socket.isOpen && !socket.isDead) socket.onmessage?.({ data: JSON.stringify(message) })
    })
  }
  private closeSocket(socket: SimulatedSocket, code: number) {
    this.sockets.delete(socket)
    if (socket.isDead) return
    this.schedule(20, () => {
      if (socket.isOpen) socket.onclose?.({ code })
      socket.isOpen = false
    })
  }
}
