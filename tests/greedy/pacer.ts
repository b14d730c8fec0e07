import { setTimeout as pause } from 'node:timers/promises'
import { now } from '@lockstep/testing/load/socket-clients'
import type { Kind, Sample } from './judge.ts'

/**
 * Runs actions at a fixed rate (open loop). Each time starts when the action was due: a stall of a second delays
 * everything due in that second, not a single request.
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

  /** Stops, and waits for pending actions. */
  async end() {
    this.endsAt = now()
    await Promise.all(this.loops)
  }

  /** All samples since the last call, including those between two runs. */
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
        // An action that could not start before the end counts as late, and is not sent.
        if (now() < this.endsAt) await act(due)
        this.add(kind, due)
      } catch (error) {
        this.add(kind, due, (error as Error).message)
      }
    }
  }
}
