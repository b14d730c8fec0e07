/** Longest slice before the event loop runs other work. */
const SLICE_MS = 4
/** Items between two readings of the clock. */
const STRIDE = 25

interface EventLoop {
  now: () => number
  soon: (work: () => void) => void
}
const eventLoop: EventLoop = { now: () => performance.now(), soon: (work) => void setImmediate(work) }

/** Cooperative iteration: works through many items in slices of a few milliseconds, and yields to the event loop in between. */
export function yieldingForEach<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  whenDone: () => void = () => {},
  { now, soon } = eventLoop,
) {
  const rest = items[Symbol.iterator]()
  const slice = () => {
    const end = now() + SLICE_MS
    do {
      for (let i = 0; i < STRIDE; i++) {
        const { value, done } = rest.next()
        if (done) return whenDone()
        work(value)
      }
    } while (now() < end)
    soon(slice)
  }
  slice()
}
