/** Rows per statement of a bulk change: few enough that its locks are short. */
export const BATCH_ROWS = 5_000

/** Runs a bulk change batch by batch until one is not full. Returns how many rows there were. */
export async function inBatches(changeSome: () => Promise<unknown[]>, size = BATCH_ROWS): Promise<number> {
  for (let changed = 0; ; ) {
    const { length } = await changeSome()
    changed += length
    if (length < size) return changed
  }
}
