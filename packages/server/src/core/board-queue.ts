import type { Place } from '../http/edge/admission-controller.ts'
import { Problem } from '../platform/problem.ts'

/** How many changes of one board may wait. What comes on top of them would wait in vain. */
const MAX_WAITING = 500

/**
 * Lets the changes of one board wait for each other in this process, before they take a connection: a hot board holds two
 * connections at most (one commits, the next waits for its lock) and not the whole pool. Waiting is bounded, in number and in
 * time; who waits too long is told to come back.
 */
export class Turns {
  private readonly lines = new Map<string, { next: () => void }[]>()
  private readonly wait_ms: number
  private readonly waited: ((seconds: number) => void) | undefined
  /** How many wait, on all boards together. */
  waiting = 0

  /** `waited` is told how long each had to wait, also who was sent away. */
  constructor(wait_ms: number, waited?: (seconds: number) => void) {
    this.wait_ms = wait_ms
    this.waited = waited
  }

  /**
   * Whoever has a place among the requests lends it to others while he waits. `work` may pass its turn on before it is over,
   * when all that is left is to wait.
   */
  async take<T>(board_id: string, work: (passOn: () => void) => Promise<T>, place?: Place): Promise<T> {
    const line = this.lines.get(board_id)
    if (line) {
      if (line.length >= MAX_WAITING) throw new Problem('board_busy')
      await (place ? place.aside(() => this.waitIn(line)) : this.waitIn(line))
    } else {
      this.lines.set(board_id, [])
      this.waited?.(0)
    }
    let hasPassed = false
    const passOn = () => {
      if (hasPassed) return
      hasPassed = true
      const next = this.lines.get(board_id)?.shift()
      if (next) next.next()
      else this.lines.delete(board_id)
    }
    try {
      return await work(passOn)
    } finally {
      passOn()
    }
  }

  private async waitIn(line: { next: () => void }[]) {
    const came_at = performance.now()
    this.waiting++
    try {
      await this.wait(line)
    } finally {
      this.waiting--
      this.waited?.((performance.now() - came_at) / 1_000)
    }
  }

  private wait(line: { next: () => void }[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const place = { next: () => {} }
      const timer = setTimeout(() => {
        line.splice(line.indexOf(place), 1)
        reject(new Problem('board_busy'))
      }, this.wait_ms)
      place.next = () => {
        clearTimeout(timer)
        resolve()
      }
      line.push(place)
    })
  }
}
