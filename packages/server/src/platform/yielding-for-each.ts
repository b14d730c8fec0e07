/** How long one iteration of the event loop may be blocked. */
const SLICE_MS = 4
/** Items between two reads of the clock. */
const STRIDE = 25

/** Cooperative iteration: processes many items a few milliseconds at a time, and yields to the event loop in between. */
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
