import { setTimeout as pause } from 'node:timers/promises'
import { now } from '@lockstep/testing/load/socket-clients'
import type { Kind, Sample } from './judge.ts'

/**
 * Does things at a fixed pace, whatever the answers take. Each time counts from when the action was due: a service that
 * stalls for a second is late for everything due in that second, not for a single request.
 */
export class Pacer {
  private samples: Sample[] = []
  private loops: Promise<void>[] = []
  private endsAt = 0

  begin() {
    this.loops = []
    this.endsAt = Number.POSITIVE_INFINITY
  }

  every(ms: number, kind: Kind, act: (due: number) => Promise<void>) {
    this.loops.push(this.repeat(ms, kind, act))
  }

  add(kind: Kind, due: number, failure?: string) {
    this.samples.push({ kind, ms: now() - due, ...(failure !== undefined && { failure }) })
  }

  /** Ends everything; what is under way is waited for. */
  async end() {
    this.endsAt = now()
    await Promise.all(this.loops)
  }

  /** Everything since the last time, also what happened between an end and the next beginning. */
  take(): Sample[] {
    const taken = this.samples
    this.samples = []
    return taken
  }

  private async repeat(everyMs: number, kind: Kind, act: (due: number) => Promise<void>) {
    for (let due = now(); ; due += everyMs) {
      await pause(Math.max(0, due - now()))
      if (due >= this.endsAt) return
      try {
        // What could not begin before the end is late, too, and is not sent any more.
        if (now() < this.endsAt) await act(due)
        this.add(kind, due)
      } catch (error) {
        this.add(kind, due, (error as Error).message)
      }
    }
  }
}
