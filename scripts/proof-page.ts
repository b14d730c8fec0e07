import { readFileSync } from 'node:fs'
import type { Figure } from '../tests/prove/report.ts'
import { suites } from '../tests/prove/suites.ts'

/** The last run of a suite. */
export interface Run {
  command: string
  commit: string
  date: string
  seconds: number
  machine: string
  violations: string[]
  /** Bounds on time that were missed, which are reported and not judged. */
  missedTimes?: string[]
  /** The caption of its picture, `docs/proof/<suite>.svg`. */
  picture?: string
  figures: Figure[]
}
export type Results = Record<string, Run>

export const PAGE = 'docs/proof/README.md'
export const RESULTS = 'docs/proof/results.json'
export const readResults = () => JSON.parse(readFileSync(RESULTS, 'utf8')) as Results
export const commandOf = (suite: string) => `npm run prove -- ${suite}`

/** The results as JSON, with one line for each figure. */
export function resultsText(results: Results): string {
  const runs = Object.entries(results).map(([suite, { figures, ...run }]) => {
    const lines = figures.map((figure) => `      ${JSON.stringify(figure)}`)
    const rest = JSON.stringify(run, null, 2).slice(0, -2).replaceAll('\n', '\n  ')
    return `  ${JSON.stringify(suite)}: ${rest},\n    "figures": [\n${lines.join(',\n')}\n    ]\n  }`
  })
  return `{\n${runs.join(',\n')}\n}\n`
}

/** Renders the evidence page. */
export function proofPage(results: Results): string {
  const names = Object.keys(suites)
  const missing = names.filter((name) => !results[name])
  const never = missing.length > 0 ? [`No run is stored yet: ${inCode(missing.map(commandOf))}.`, ''] : []
  const sections = names.flatMap((name) => sectionOf(name, results[name]))
  return `${[INTRO, '', ...sections, ...never].join('\n').trimEnd()}\n`
}

const INTRO = `# Evidence

These suites are too long for a test run. The tests run the same code for seconds; here it runs for minutes or hours. Each section is the last run of
one suite. \`npm run prove -- <suite>\` runs it again and replaces its section; the figures are in \`results.json\`. How fast the service is compared
with PostgreSQL alone is on [performance](../performance.md).

A figure without a bound is only reported. All processes of a run, the load included, shared one machine.`

function sectionOf(name: string, run: Run | undefined): string[] {
  const suite = suites[name]
  if (!run || !suite) return []
  const { command, commit, date, seconds, machine, violations, picture, figures } = run
  const verdict =
    violations.length === 0
      ? 'No violations.'
      : `**${violations.length === 1 ? '1 violation' : `${violations.length} violations`}.**`
  const rows = figures.map(({ what, value, unit, bound = '', met }) => {
    const shown = typeof value === 'number' ? value.toLocaleString('en') : value
    return [what, unit ? `${shown} ${unit}` : shown, bound, met === undefined ? '' : met ? 'yes' : '**no**']
  })
  return [
    `## ${suite.title}`,
    '',
    suite.about,
    '',
    `\`${command}\`, commit \`${commit}\`, ${date}, ${duration(seconds)} on ${machine}. ${verdict}`,
    '',
    ...violations.slice(0, 20).map((violation) => `- ${violation}`),
    ...(violations.length > 0 ? [''] : []),
    ...[['Figure', 'Value', 'Bound', 'Met'], ['---', '---', '---', '---'], ...rows].map(
      (row) => `| ${row.join(' | ')} |`,
    ),
    '',
    ...(picture ? [`![${picture}](${name}.svg)`, ''] : []),
  ]
}

const duration = (seconds: number) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`)
const inCode = (words: string[]) => words.map((word) => `\`${word}\``).join(', ')
