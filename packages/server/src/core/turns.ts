import { Problem } from './problem.ts'

/**
 * Lets the changes of one board wait for each other in this process, before they take a connection: a hot board holds one
 * connection and not the whole pool. Waiting is bounded; who waits too long is told to come back.
 */
export class Turns {
  private readonly lines = new Map<string, { next: () => void }[]>()
  private readonly wait_ms: number

  constructor(wait_ms: number) {
    this.wait_ms = wait_ms
  }

  async take<T>(board_id: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(board_id)
    if (line) await this.wait(line)
    else this.lines.set(board_id, [])
    try {
      return await work()
    } finally {
      const next = this.lines.get(board_id)?.shift()
      if (next) next.next()
      else this.lines.delete(board_id)
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
