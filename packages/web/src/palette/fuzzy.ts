/** How well a text fits what was typed, and which of its characters do: pairs of start and end. */
export interface Match {
  score: number
  ranges: [start: number, end: number][]
}

/** One character for each, so that a place in the folded text is the place in the text. */
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
 * Whether every word of the query is in the text, in whatever order: as it is, by the first letters of words, or with letters
 * left out. Beginnings of words weigh more than their middles, and early ones more than late ones.
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

/** `rsw` is “Rotate signing secret without”: words may be passed over, after the first that fits. */
function matchInitials(word: string, text: string): Match | undefined {
  if (word.length < 2) return undefined
  const ranges: Match['ranges'] = []
  for (let at = 0; at < text.length && ranges.length < word.length; at++) {
    if (isStart(text, at) && text[at] === word[ranges.length]) ranges.push([at, at + 1])
  }
  return ranges.length === word.length ? { score: 100, ranges } : undefined
}

/** The letters in their order, close together: what is spread over half a sentence was not meant. */
function matchScattered(word: string, text: string): Match | undefined {
  if (word.length < 3) return undefined
  const most = word.length * 2
  let best: number[] | undefined
  for (let from = text.indexOf(word.charAt(0)); from >= 0; from = text.indexOf(word.charAt(0), from + 1)) {
    const places = [from]
    for (let i = 1; i < word.length; i++) {
      const next = text.indexOf(word.charAt(i), (places.at(-1) as number) + 1)
      if (next < 0) return scattered(best)
      places.push(next)
    }
    if (lengthOf(places) <= most && (!best || lengthOf(places) < lengthOf(best))) best = places
  }
  return scattered(best)
}

const lengthOf = (places: number[]) => (places.at(-1) as number) - (places[0] as number) + 1
const scattered = (places: number[] | undefined): Match | undefined =>
  places && { score: 50 - (lengthOf(places) - places.length), ranges: places.map((at) => [at, at + 1]) }

/** In order, and those that touch as one. */
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

/** Those that fit, the best first; equally good ones stay in their order. */
export function rank<T>(query: string, items: readonly T[], textOf: (item: T) => string): { item: T; match: Match }[] {
  return items
    .flatMap((item) => {
      const match = fuzzy(query, textOf(item))
      return match ? [{ item, match }] : []
    })
    .sort((a, b) => b.match.score - a.match.score)
}
