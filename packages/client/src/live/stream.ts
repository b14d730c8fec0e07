/** A reader who is further behind than this has missed something, and is told so. */
const MAX_WAITING = 1_000

/** Values for one reader who takes them at his own pace. What he cannot keep up with is one `overflow` in its place. */
export class Stream<T> implements AsyncIterableIterator<T, undefined> {
  private waiting: T[] = []
  /** Those who asked for what has not come yet. */
  private readonly asked: ((result: IteratorResult<T, undefined>) => void)[] = []
  private isOver = false
  private readonly overflow: () => T
  private readonly left: () => void

  constructor(overflow: () => T, left: () => void) {
    this.overflow = overflow
    this.left = left
  }

  push(value: T) {
    if (this.isOver) return
    const give = this.asked.shift()
    if (give) give({ value, done: false })
    else if (this.waiting.length < MAX_WAITING) this.waiting.push(value)
    else this.waiting = [this.overflow()]
  }

  end() {
    this.isOver = true
    for (const give of this.asked.splice(0)) give({ value: undefined, done: true })
    this.left()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.waiting.length > 0) return Promise.resolve({ value: this.waiting.shift() as T, done: false })
    if (this.isOver) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve) => void this.asked.push(resolve))
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.waiting = []
    this.end()
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator]() {
    return this
  }

  async [Symbol.asyncDispose]() {
    await this.return()
  }
}
