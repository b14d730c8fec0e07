/** A measured or counted value. One without a bound is only reported. */
export interface Figure {
  what: string
  value: number | string
  unit?: string
  /** For example `≤ 1000 ms`, and whether the value is within it. */
  bound?: string
  met?: boolean
}

/** What a suite returns. */
export interface Report {
  figures: Figure[]
  /** One sentence for each violation. Empty: the suite passed. */
  violations: string[]
  /** Bounds on time that this kind of machine may miss, one sentence each: reported, not judged. */
  missedTimes?: string[]
  /** A chart, stored as `docs/proof/<suite>.svg`. */
  picture?: { caption: string; svg: string }
}

/** Logs a line while a suite runs. */
export type Progress = (line: string) => void

const rounded = (value: number) => (Math.abs(value) < 100 ? Number(value.toPrecision(3)) : Math.round(value))

const withUnit = (value: number | string, unit = '') => `${value.toLocaleString('en')} ${unit}`.trim()

export const info = (what: string, value: number, unit?: string): Figure => ({
  what,
  value: rounded(value),
  ...(unit && { unit }),
})
export const equals = (what: string, value: number, expected: number): Figure => ({
  what,
  value,
  bound: expected.toLocaleString('en'),
  met: value === expected,
})
export const isTrue = (what: string, value: boolean): Figure => ({
  what,
  value: value ? 'yes' : 'no',
  bound: 'yes',
  met: value,
})
export const atMost = (what: string, value: number, most: number, unit?: string): Figure => ({
  ...info(what, value, unit),
  bound: `≤ ${withUnit(most, unit)}`,
  met: value <= most,
})
export const atLeast = (what: string, value: number, least: number, unit?: string): Figure => ({
  ...info(what, value, unit),
  bound: `≥ ${withUnit(least, unit)}`,
  met: value >= least,
})

/** Collects the figures of a suite. A figure that misses its bound becomes a violation. */
export function collectFigures(progress: Progress) {
  const figures: Figure[] = []
  const violations: string[] = []
  const missedTimes: string[] = []
  const fail = (sentence: string) => {
    violations.push(sentence)
    progress(`✗ ${sentence}`)
  }
  const note = (list: Figure[], miss: (sentence: string) => void) => {
    for (const { what, value, unit, bound, met } of list) {
      if (met === false) miss(`${what}: ${withUnit(value, unit)} instead of ${bound}`)
      else progress(`  ${what}: ${withUnit(value, unit)}${bound ? ` (${bound})` : ''}`)
    }
    figures.push(...list)
  }
  return {
    figures,
    violations,
    missedTimes,
    fail,
    add: (...more: Figure[]) => note(more, fail),
    /** For bounds on time that are reported, not judged. */
    addTimes: (...more: Figure[]) =>
      note(more, (sentence) => {
        missedTimes.push(sentence)
        progress(`  missed: ${sentence}`)
      }),
  }
}
