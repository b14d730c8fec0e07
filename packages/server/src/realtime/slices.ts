const SLICE = 500

/** Does something for each of many, some at a time, so that other work has its turn in between. */
export function inSlices<T>(items: Iterable<T>, work: (item: T) => void) {
  const rest = items[Symbol.iterator]()
  const slice = () => {
    for (let i = 0; i < SLICE; i++) {
      const { value, done } = rest.next()
      if (done) return
      work(value)
    }
    setImmediate(slice)
  }
  slice()
}
