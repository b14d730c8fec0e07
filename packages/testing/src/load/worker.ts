import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface Waiting {
  resolve: (answer: unknown) => void
  reject: (error: Error) => void
}

/** A process of its own that does what it is told and answers each order: load must not take the time of who measures it. */
export class Worker<Order> {
  private readonly child: ChildProcess
  private readonly waiting = new Map<number, Waiting>()
  private readonly ended: Promise<unknown>
  private orders = 0

  constructor(file: URL) {
    this.child = fork(fileURLToPath(file), { serialization: 'advanced', execArgv: [] })
    this.child.on('message', ({ nth, answer }: { nth: number; answer: unknown }) => {
      this.waiting.get(nth)?.resolve(answer)
      this.waiting.delete(nth)
    })
    this.ended = once(this.child, 'exit').then(() => {
      for (const { reject } of this.waiting.values()) reject(new Error(`${file.pathname} has ended`))
    })
  }

  get pid(): number {
    return this.child.pid ?? -1
  }

  ask(order: Order): Promise<unknown> {
    const nth = ++this.orders
    return new Promise((resolve, reject) => {
      this.waiting.set(nth, { resolve, reject })
      this.child.send({ nth, order }, (error) => error && reject(error))
    })
  }

  async end() {
    if (this.child.connected) this.child.disconnect()
    await this.ended
  }
}

/** The other side: what the process does with its orders. It ends when nobody can give it any more. */
export function obeying<Order>(obey: (order: Order) => Promise<unknown>) {
  process.on('message', ({ nth, order }: { nth: number; order: Order }) => {
    void obey(order).then((answer) => process.send?.({ nth, answer }))
  })
  process.on('disconnect', () => process.exit())
}
