import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type CrowdOrder, type Doings, nothing } from './crowd.ts'
import type { Told } from './crowd-process.ts'

const FILE = fileURLToPath(new URL('crowd-process.ts', import.meta.url))

/** Crowds in processes of their own, so that they share no thread with the service or with who measures. */
export class Crowds {
  private readonly children: ChildProcess[]
  private readonly exits: Promise<undefined>[]
  /** Of a process that ended before it was asked to. */
  readonly deaths: string[] = []
  private isOver = false

  constructor(orders: CrowdOrder[]) {
    this.children = orders.map((order) => {
      const child = fork(FILE, [JSON.stringify(order)], { execArgv: [] })
      child.on('exit', (code) => !this.isOver && this.deaths.push(`a crowd ended with ${code}`))
      return child
    })
    this.exits = this.children.map((child) => new Promise((resolve) => child.once('exit', () => resolve(undefined))))
  }

  started = () => this.hear('started')

  /** What all of them did so far. */
  async soFar(): Promise<Doings> {
    const heard = this.hear('so far')
    for (const child of this.children) if (child.connected) child.send('tell')
    return heard
  }

  async stop(): Promise<Doings> {
    const heard = this.hear('stopped')
    for (const child of this.children) if (child.connected) child.send('stop')
    const doings = await heard
    this.end()
    return doings
  }

  end() {
    this.isOver = true
    for (const child of this.children) if (child.connected) child.disconnect()
  }

  private async hear(said: Told['said']): Promise<Doings> {
    const answers = this.children.map((child, i) => {
      const answer = new Promise<Doings>((resolve) => {
        const hear = (told: Told) => {
          if (told.said !== said) return
          child.off('message', hear)
          resolve(told.doings)
        }
        child.on('message', hear)
      })
      // Whoever died says no more.
      return Promise.race([answer, this.exits[i]])
    })
    return (await Promise.all(answers)).filter((one) => one !== undefined).reduce(together, nothing())
  }
}

function together(a: Doings, b: Doings): Doings {
  const sum = (x: Record<string, number>, y: Record<string, number>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(x), ...Object.keys(y)])].map((key) => [key, (x[key] ?? 0) + (y[key] ?? 0)]),
    )
  return {
    acts: sum(a.acts, b.acts),
    refusals: sum(a.refusals, b.refusals),
    settled: sum(a.settled, b.settled),
    live: a.live + b.live,
    unchanged: a.unchanged + b.unchanged,
    cuts: a.cuts + b.cuts,
    sleeps: a.sleeps + b.sleeps,
    comebacks: a.comebacks + b.comebacks,
    compared: a.compared + b.compared,
    failures: [...a.failures, ...b.failures],
  }
}
