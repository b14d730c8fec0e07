/** Follows a list to its end while others write, and reports elements that were missed or repeated. */
export interface Walk {
  /** The keys of the elements of a page, and what reads the next one. */
  readPage: (next: string | undefined) => Promise<{ keys: string[]; next: string | undefined }>
  /** The keys of all elements. */
  readAll: () => Promise<string[]>
  /** Creates, removes and moves elements. Called once for each page, during and after reading it. */
  write: (step: number, before: string[]) => Promise<void>
}

/** Later steps write nothing, so that a list that grows at its end is finite. */
const MAX_STEPS = 12

/** An element that exists before and after the walk existed all the while, because no test creates a key again. */
export async function complaintsOf({ readPage, readAll, write }: Walk): Promise<string[]> {
  const before = await readAll()
  const seen: string[] = []
  let pages = 0
  for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const step = pages++
    // Half of the writes happen while the page is read.
    const isConcurrent = step % 2 === 0
    const writing = isConcurrent && step < MAX_STEPS ? write(step, before) : undefined
    const page = await readPage(next)
    await writing
    if (!isConcurrent && step < MAX_STEPS) await write(step, before)
    seen.push(...page.keys)
    next = page.next
    if (pages > before.length + 2 * MAX_STEPS) return [`the walk does not end: ${pages} pages`]
  }
  const after = new Set(await readAll())
  return [
    ...(pages < 3 ? [`only ${pages} pages: the test shows nothing`] : []),
    ...before.filter((key) => after.has(key) && !seen.includes(key)).map((key) => `missed: ${key}`),
    ...seen.filter((key, i) => seen.indexOf(key) !== i).map((key) => `repeated: ${key}`),
  ]
}
