import type { Api, ApiAnswer, RequestOptions } from '../../../client/src/live/api.ts'
import type { Environment, SocketLike } from '../../../client/src/live/environment.ts'
import type { QueueStorage } from '../../../client/src/live/storage.ts'
import type { Change } from '../../../client/src/live/types.ts'
import { clone, type ModelServer, Refused } from './model-server.ts'
import { generator, smallServer } from './small-board.ts'

interface Task {
  at: number
  nth: number
  work: () => void
}

class VirtualSocket implements SocketLike {
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  /** Nothing gets through any more, and nobody is told. */
  isDead = false
  isOpen = true
  next = 0
  pongs = 0
  private readonly left: () => void

  constructor(left: () => void) {
    this.left = left
  }

  send() {
    if (!this.isDead) this.pongs++
  }

  close() {
    this.isOpen = false
    this.left()
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

/** A service and its network in simulated time. What goes wrong is up to the test. */
export class VirtualWorld {
  now = 0
  readonly server: ModelServer = smallServer()
  readonly random: () => number
  readonly sockets = new Set<VirtualSocket>()
  /** When sockets were asked for. */
  readonly opened_at: number[] = []
  isUp = true
  /** Something on the way does not let sockets through. */
  isBarred = false
  /** How many requests, and how many answers, are lost. */
  loss = 0
  /** How many boards are answered by a cache, which may have an older one. */
  staleness = 0
  /** What the service answers to everything, if it is not itself. */
  refusal: number | undefined
  timers = 0
  private tasks: Task[] = []
  private count = 0

  constructor(seed: number) {
    this.random = generator(seed)
    const ping = () => {
      for (const socket of this.sockets) this.tell(socket, { type: 'ping', seq: this.server.seq })
      this.at(30_000, ping)
    }
    this.at(30_000, ping)
  }

  at(delay: number, work: () => void): Task {
    const task = { at: this.now + delay, nth: this.count++, work }
    this.tasks.push(task)
    return task
  }

  /** Lets time pass. Between any two things that happen, whatever was promised is kept. */
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

  /** The machine of the clients sleeps: time passes, and none of their timers comes. */
  sleep(ms: number) {
    this.now += ms
  }

  environment(wakers: Set<(is_online: boolean) => void> = new Set()): Environment {
    let made = 0
    const name = this.count++
    return {
      now: () => this.now,
      after: (ms, work) => {
        this.timers++
        let isOver = false
        const over = () => {
          if (!isOver) this.timers--
          isOver = true
        }
        const task = this.at(ms, () => {
          if (isOver) return
          over()
          work()
        })
        return () => {
          over()
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
      base_url: 'http://virtual',
      request: (name, input, options) =>
        new Promise((resolve, reject) => {
          const latency = () => 5 + this.random() * 60
          const lost = () => reject(new Error('network'))
          options.signal.addEventListener('abort', lost)
          this.at(latency(), () => {
            if (!this.isUp || this.random() < this.loss) return this.at(latency(), lost)
            let answer: ApiAnswer | HttpFailure
            try {
              answer = this.answer(user_id, name, input, options)
            } catch (error) {
              answer = error as HttpFailure
            }
            this.announce()
            const isLost = this.random() < this.loss
            return this.at(latency(), () => {
              if (isLost || !this.isUp) lost()
              else if (answer instanceof Error) reject(answer)
              else resolve(answer)
            })
          })
        }),
    }
  }

  /** Closes every socket, as the service does. */
  closeSockets(code: number) {
    for (const socket of [...this.sockets]) this.closeSocket(socket, code)
  }

  /** Goes down with everything that was open. */
  kill() {
    this.isUp = false
    this.closeSockets(1006)
  }

  announce() {
    for (const socket of this.sockets) this.serve(socket)
  }

  private answer(user_id: string, name: string, input: Record<string, unknown>, options: RequestOptions): ApiAnswer {
    const { server } = this
    const position = `${server.epoch}.${server.seq}`
    if (this.refusal) throw new HttpFailure(this.refusal, 'refused')
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
          throw error instanceof Refused ? new HttpFailure(404, error.message) : error
        }
      default: {
        const { board_id: _, ...fields } = input
        const change = { name, input: fields } as unknown as Change
        const answer = server.execute(user_id, options.idempotency_key ?? '', change, options.if_match)
        if (!answer.ok) throw new HttpFailure(answer.status, answer.code)
        return { data: undefined, position: `${answer.epoch}.${answer.seq}` }
      }
    }
  }

  private board(): ApiAnswer {
    const { epoch, seq, first_seq, history } = this.server
    const isStale = this.random() < this.staleness
    const read = isStale ? Math.max(first_seq, seq - Math.floor(this.random() * 20)) : seq
    return { data: clone(history[read]), position: `${epoch}.${read}` }
  }

  private openSocket(url: string): SocketLike {
    const { searchParams } = new URL(url)
    const [epoch = 0, seq = 0] = (searchParams.get('since') ?? '').split('.').map(Number)
    const user_id = searchParams.get('token') ?? ''
    const socket: VirtualSocket = new VirtualSocket(() => this.sockets.delete(socket))
    this.opened_at.push(this.now)
    this.at(10 + this.random() * 40, () => {
      if (!this.isUp || this.isBarred) return this.closeSocket(socket, 1006)
      const { server } = this
      this.sockets.add(socket)
      this.tell(socket, { type: 'hello', epoch: server.epoch, seq: server.seq })
      this.tell(socket, { type: 'user_joined', user_id, username: user_id })
      const isKnown = epoch === server.epoch && seq <= server.seq
      if (!isKnown) this.tell(socket, { type: 'resync', epoch: server.epoch, seq: server.seq })
      socket.next = isKnown ? seq : server.seq
      this.serve(socket)
      return undefined
    })
    return socket
  }

  private serve(socket: VirtualSocket) {
    for (; socket.next < this.server.seq; socket.next++) {
      const { event } = this.server.log[socket.next] as ModelServer['log'][number]
      // Should the service lose one, the next ping tells.
      if (this.random() >= this.loss / 4) this.tell(socket, clone(event))
    }
  }

  /** In order, a little later each: a socket never overtakes itself. */
  private tell(socket: VirtualSocket, message: object) {
    this.at(20, () => {
      if (socket.isOpen && !socket.isDead) socket.onmessage?.({ data: JSON.stringify(message) })
    })
  }
  private closeSocket(socket: VirtualSocket, code: number) {
    this.sockets.delete(socket)
    if (socket.isDead) return
    this.at(20, () => {
      if (socket.isOpen) socket.onclose?.({ code })
      socket.isOpen = false
    })
  }
}

/** A place for queues that outlives a page. */
export function memoryQueue(): QueueStorage & { texts: Map<string, string> } {
  const texts = new Map<string, string>()
  return {
    texts,
    list: (prefix) => [...texts].filter(([id]) => id.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1)),
    put: (id, text) => void texts.set(id, text),
    remove: (id) => void texts.delete(id),
  }
}
