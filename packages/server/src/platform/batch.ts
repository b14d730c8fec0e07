interface Call<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}
interface BatchOptions {
  /** How long the first call of a batch waits for others. */
  waitMs: number
  /** How many calls can be expected at most. A batch of this size does not wait. */
  expected: () => number
}

/** Joins calls into batches that run one after the other. The results are in the order of the calls. */
export class Batch<Item, Result> {
  private readonly work: (items: Item[]) => Promise<Result[]>
  private readonly options: BatchOptions
  private calls: Call<Item, Result>[] = []
  private timer: NodeJS.Timeout | undefined
  private isRunning = false

  constructor(work: (items: Item[]) => Promise<Result[]>, options: BatchOptions) {
    this.work = work
    this.options = options
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.calls.push({ item, resolve, reject })
    this.schedule()
    return promise
  }

  private schedule() {
    if (this.isRunning || this.calls.length === 0) return
    if (this.calls.length >= this.options.expected()) void this.run()
    else this.timer ??= setTimeout(() => void this.run(), this.options.waitMs)
  }

  private async run() {
    clearTimeout(this.timer)
    this.timer = undefined
    const { calls } = this
    this.calls = []
    this.isRunning = true
    try {
      const results = await this.work(calls.map(({ item }) => item))
      for (const [nth, { resolve }] of calls.entries()) resolve(results[nth] as Result)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
    this.isRunning = false
    this.schedule()
  }
}
