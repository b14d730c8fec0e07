/** Monotonic time in milliseconds, and timers. Passed as an argument, so that tests advance the time instead of waiting. */
export interface Clock {
  now: () => number
  /** Starts a timer that does not keep the process alive; returns a function that cancels it. */
  after: (ms: number, work: () => void) => () => void
  /** Runs the work at an interval; returns a function that ends it. */
  every: (ms: number, work: () => void) => () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms).unref()
    return () => clearTimeout(timer)
  },
  every: (ms, work) => {
    const timer = setInterval(work, ms).unref()
    return () => clearInterval(timer)
  },
}

export const waitFor = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
