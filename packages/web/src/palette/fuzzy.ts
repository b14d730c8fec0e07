/** The score of a text for a query, and the matching character ranges. */
export interface Match {
  score: number
  ranges: [start: number, end: number][]
}

/** Removes case and diacritics, one character for each, so that indexes stay valid. */
const fold = (text: string): string => {
  let folded = ''
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i).normalize('NFD').charAt(0).toLowerCase()
    folded += char.length === 1 ? char : text.charAt(i)
  }
  return folded
}

const isLetter = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char)
const isStart = (text: string, at: number) => isLetter(text[at]) && !isLetter(text[at - 1])

/**
 * Matches if every word of the query is in the text, in any order: as a substring, as initials, or as a subsequence. A match
 * at the start of a word scores higher than one inside, and an early match higher than a late one.
 */
export function fuzzy(query: string, text: string): Match | undefined {
  const folded = fold(text)
  const words = fold(query).split(/\s+/).filter(Boolean)
  let score = 0
  const ranges: Match['ranges'] = []
  for (const word of words) {
    const found = matchWhole(word, folded) ?? matchInitials(word, folded) ?? matchScattered(word, folded)
    if (!found) return undefined
    score += found.score
    ranges.push(...found.ranges)
  }
  return { score: words.length === 0 ? 0 : score / words.length, ranges: joined(ranges) }
}

function matchWhole(word: string, text: string): Match | undefined {
  let best: Match | undefined
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const isWhole = !isLetter(text[at + word.length])
    const score = (isStart(text, at) ? (isWhole ? 300 : 250) : 200) + (at === 0 ? 40 : 0) - Math.min(at, 99) / 10
    if (!best || score > best.score) best = { score, ranges: [[at, at + word.length]] }
  }
  return best
}

/** `rsw` matches “Rotate signing secret without”. Words may be skipped. */
function matchInitials(word: string, text: string): Match | undefined {
  if (word.length < 2) return undefined
  const ranges: Match['ranges'] = []
  for (let at = 0; at < text.length && ranges.length < word.length; at++) {
    if (isStart(text, at) && text[at] === word[ranges.length]) ranges.push([at, at + 1])
  }
  return ranges.length === word.length ? { score: 100, ranges } : undefined
}

/** The letters as a subsequence, close together: letters spread over half a sentence are no match. */
function matchScattered(word: string, text: string): Match | undefined {
  if (word.length < 3) return undefined
  const maxLength = word.length * 2
  let best: number[] | undefined
  for (let from = text.indexOf(word.charAt(0)); from >= 0; from = text.indexOf(word.charAt(0), from + 1)) {
    const indexes = [from]
    for (let i = 1; i < word.length; i++) {
      const next = text.indexOf(word.charAt(i), (indexes.at(-1) as number) + 1)
      if (next < 0) return scattered(best)
      indexes.push(next)
    }
    if (lengthOf(indexes) <= maxLength && (!best || lengthOf(indexes) < lengthOf(best))) best = indexes
  }
  return scattered(best)
}

const lengthOf = (indexes: number[]) => (indexes.at(-1) as number) - (indexes[0] as number) + 1
const scattered = (indexes: number[] | undefined): Match | undefined =>
  indexes && { score: 50 - (lengthOf(indexes) - indexes.length), ranges: indexes.map((at) => [at, at + 1]) }

/** Sorts the ranges and merges those that touch. */
function joined(ranges: Match['ranges']): Match['ranges'] {
  const sorted = ranges.toSorted(([a], [b]) => a - b)
  const whole: Match['ranges'] = []
  for (const [start, end] of sorted) {
    const last = whole.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else whole.push([start, end])
  }
  return whole
}

/** The matching items, best first. The sort is stable. */
export function rank<T>(query: string, items: readonly T[], textOf: (item: T) => string): { item: T; match: Match }[] {
  return items
    .flatMap((item) => {
      const match = fuzzy(query, textOf(item))
      return match ? [{ item, match }] : []
    })
    .sort((a, b) => b.match.score - a.match.score)
}
