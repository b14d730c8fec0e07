/** Above this number of buffered values, the oldest are dropped. */
const MAX_BUFFERED = 1_000

/** A bounded async iterator for one reader. On overflow, the buffer is replaced by one `overflow` value. */
export class EventStream<T> implements AsyncIterableIterator<T> {
  #buffer: T[] = []
  /** Pending `next` calls. */
  readonly #readers: ((result: IteratorResult<T, undefined>) => void)[] = []
  #isEnded = false
  readonly #overflow: T
  readonly #onEnd: () => void

  constructor(overflow: T, left: () => void) {
    this.#overflow = overflow
    this.#onEnd = left
  }

  push(value: T) {
    if (this.#isEnded) return
    const resolve = this.#readers.shift()
    if (resolve) resolve({ value, done: false })
    else if (this.#buffer.length < MAX_BUFFERED) this.#buffer.push(value)
    else this.#buffer = [this.#overflow]
  }

  end() {
    this.#isEnded = true
    for (const resolve of this.#readers.splice(0)) resolve({ value: undefined, done: true })
    this.#onEnd()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#buffer.length > 0) return Promise.resolve({ value: this.#buffer.shift() as T, done: false })
    if (this.#isEnded) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve) => void this.#readers.push(resolve))
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#buffer = []
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
