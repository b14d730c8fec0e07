import type { Progress, Section } from './report.ts'

export interface Goal {
  what: string
  value: number | string
  unit: string
  /** What was aimed at, and whether it was reached. A figure without a goal is only told. */
  goal?: string
  isMet?: boolean
}
const fixed = (value: number) => (Math.abs(value) < 100 ? Math.round(value * 10) / 10 : Math.round(value))

export const told = (what: string, value: number, unit = ''): Goal => ({ what, value: fixed(value), unit })
export const is = (what: string, value: number, expected: number): Goal => ({
  what,
  value,
  unit: '',
  goal: String(expected),
  isMet: value === expected,
})
export const yes = (what: string, value: boolean): Goal => ({
  what,
  value: value ? 'yes' : 'no',
  unit: '',
  goal: 'yes',
  isMet: value,
})
export const atMost = (what: string, value: number, most: number, unit = ''): Goal => ({
  ...told(what, value, unit),
  goal: `≤ ${most} ${unit}`.trim(),
  isMet: value <= most,
})
export const atLeast = (what: string, value: number, least: number, unit = ''): Goal => ({
  ...told(what, value, unit),
  goal: `≥ ${least} ${unit}`.trim(),
  isMet: value >= least,
})

/** Collects figures as sections of a report, and those that miss their goal as violations. */
export function collectGoals(progress: Progress) {
  const sections: Section[] = []
  const violations: string[] = []
  const fail = (sentence: string) => {
    violations.push(sentence)
    progress(`✗ ${sentence}`)
  }
  return {
    sections,
    violations,
    fail,
    add: (heading: string, text: string, goals: Goal[], pictures: Section['pictures'] = []) => {
      for (const { what, value, unit, goal, isMet } of goals) {
        if (isMet === false) fail(`${heading}: ${what} is ${value} ${unit}, not ${goal}`)
        else progress(`  ${what}: ${value} ${unit}${goal ? ` (${goal})` : ''}`)
      }
      const rows = goals.map(({ what, value, unit, goal, isMet }) => [
        what,
        `${value} ${unit}`.trim(),
        goal ?? '',
        isMet === undefined ? '' : isMet ? 'yes' : 'no',
      ])
      sections.push({ heading, text, table: { columns: ['figure', 'value', 'goal', 'met'], rows }, pictures })
    },
  }
}
