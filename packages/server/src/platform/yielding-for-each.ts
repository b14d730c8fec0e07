/** How long many things are done in one go before other work has its turn. */
const SLICE_MS = 4
/** So many between two looks at the clock. */
const STRIDE = 25

/** Does something for each of many, for some milliseconds at a time, so that other work has its turn in between. */
export function yieldingForEach<T>(items: Iterable<T>, work: (item: T) => void, whenDone: () => void = () => {}) {
  const rest = items[Symbol.iterator]()
  const slice = () => {
    const end = performance.now() + SLICE_MS
    do {
      for (let i = 0; i < STRIDE; i++) {
        const { value, done } = rest.next()
        if (done) return whenDone()
        work(value)
      }
    } while (performance.now() < end)
    setImmediate(slice)
  }
  slice()
}
