/** A place in a text where something will be inserted. */
export interface Place {
  at: number
  /** Whether a text that is inserted exactly here comes before it. */
  isAfter: boolean
}

/** Where a place is after the text was changed, so that what is around it stays around it. */
export function movedPlace({ at, isAfter }: Place, before: string, after: string): number {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let same = 0
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same++
  const end = before.length - same
  if (at < start || (at === start && !(isAfter && end === start))) return at
  // Within what was replaced there is no better place than behind it.
  return at < end ? after.length - same : at + after.length - before.length
}
