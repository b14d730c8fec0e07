import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A child process that runs commands and returns their results, so that load takes no time of the thread that measures. */
export class Worker<Command> {
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>
  private readonly child: ChildProcess
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>()
  private commands = 0

  constructor(file: URL) {
    this.child = fork(fileURLToPath(file), { serialization: 'advanced', execArgv: [] })
    this.child.on('message', ({ nth, result }: { nth: number; result: unknown }) => {
      this.waiting.get(nth)?.resolve(result)
      this.waiting.delete(nth)
    })
    this.exited = once(this.child, 'exit').then(([code]) => {
      for (const { reject } of this.waiting.values()) reject(new Error(`${file.pathname} has exited`))
      return code as number | null
    })
  }

  get pid(): number {
    return this.child.pid ?? -1
  }

  run(command: Command): Promise<unknown> {
    const nth = ++this.commands
    const waiting = Promise.withResolvers<unknown>()
    this.waiting.set(nth, waiting)
    this.child.send({ nth, command }, (error) => error && waiting.reject(error))
    return waiting.promise
  }

  async end() {
    if (this.child.connected) this.child.disconnect()
    await this.exited
  }
}

/** Runs in the child process. It exits when its parent disconnects. */
export function handleCommands<Command>(handle: (command: Command) => Promise<unknown>) {
  process.on('message', ({ nth, command }: { nth: number; command: Command }) => {
    void handle(command).then((result) => process.send?.({ nth, result }))
  })
  process.on('disconnect', () => process.exit())
}
