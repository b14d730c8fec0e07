/** The slot of a request, as seen by a queue that the request waits in. */
export interface ReleasableSlot {
  /** Releases the slot while `wait` is pending, so that other requests can use it. */
  releaseWhile: <T>(wait: () => Promise<T>) => Promise<T>
}

/** Waits without holding the slot, if there is one. */
export const waitWithout = <T>(slot: ReleasableSlot | undefined, wait: () => Promise<T>): Promise<T> =>
  slot ? slot.releaseWhile(wait) : wait()
