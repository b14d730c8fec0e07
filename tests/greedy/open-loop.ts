import type { Kind, Sample } from './judge.ts'

export interface Action {
  kind: Kind
  everyMs: number
  /** Rejects when the action fails. */
  act: () => Promise<unknown>
}

/**
 * Starts actions by the clock, whether or not earlier ones have ended. Each time starts when the action was due: a stall of a
 * second delays everything due in that second, not a single request.
 */
export class OpenLoop {
  private samples: Sample[] = []
  private readonly pending = new Set<Promise<void>>()
  private readonly timers = new Map<Action, NodeJS.Timeout>()
  private startedAt = 0

  begin(actions: readonly Action[]) {
    this.startedAt = performance.now()
    // Spread, so that actions of the same rate are not due at the same moment.
    for (const [i, action] of actions.entries())
      this.schedule(action, this.startedAt + (action.everyMs * i) / actions.length)
  }

  /** Stops, and waits for what has started. */
  async end(): Promise<Sample[]> {
    for (const timer of this.timers.values()) clearTimeout(timer)
    await Promise.all(this.pending)
    const { samples } = this
    this.samples = []
    return samples
  }

  private schedule(action: Action, due: number) {
    const start = () => {
      this.schedule(action, due + action.everyMs)
      const running = this.measure(action, due)
      this.pending.add(running)
      void running.then(() => this.pending.delete(running))
    }
    this.timers.set(action, setTimeout(start, Math.max(0, due - performance.now())))
  }

  private async measure({ kind, act }: Action, due: number) {
    const sample: Sample = { kind, at: due - this.startedAt, ms: 0 }
    try {
      await act()
    } catch (error) {
      sample.failure = (error as Error).message
    }
    this.samples.push({ ...sample, ms: performance.now() - due })
  }
}
