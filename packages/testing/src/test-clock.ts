import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../server/src/platform/clock.ts'

interface Timer {
  at: number
  isRepeated: boolean
  run: () => void
}

/** A clock that stands still until a test advances it. */
export class TestClock implements Clock {
  private time = 0
  private isRunning = false
  private readonly timers = new Set<Timer>()

  readonly now = () => this.time + (this.isRunning ? performance.now() : 0)

  readonly after: Clock['after'] = (ms, work) => {
    const run = () => {
      this.timers.delete(timer)
      work()
    }
    const timer = { at: this.now() + ms, isRepeated: false, run }
    return this.start(timer)
  }

  readonly every: Clock['every'] = (ms, work) => {
    const run = () => {
      timer.at += ms
      work()
    }
    const timer = { at: this.now() + ms, isRepeated: true, run }
    return this.start(timer)
  }

  /** From now on the time also passes by itself, for tests that exchange messages before they advance it. */
  run(): this {
    this.isRunning = true
    setInterval(() => this.advance(0), 2).unref()
    return this
  }

  /** The remaining times of the timers that run once. */
  get waits(): number[] {
    return [...this.timers].filter(({ isRepeated }) => !isRepeated).map(({ at }) => at - this.now())
  }

  /** Runs the timers of this period, each at its time. */
  advance(ms: number) {
    const end = this.now() + ms
    for (;;) {
      const [next] = [...this.timers].sort((a, b) => a.at - b.at)
      if (!next || next.at > end) break
      this.moveTo(next.at)
      next.run()
    }
    this.moveTo(end)
  }

  /** Skips waits of up to `maxMs` until the work is done. Returns how long it took by this clock. */
  async timeOf(work: Promise<unknown>, maxMs: number): Promise<number> {
    const began = this.now()
    const done = work.then(() => true)
    while (!(await Promise.race([done, pause(1)]))) {
      const next = Math.min(...this.waits)
      if (next <= maxMs) this.advance(next)
    }
    return this.now() - began
  }

  private start(timer: Timer) {
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  private moveTo(at: number) {
    this.time += Math.max(0, at - this.now())
  }
}
