import type { Result } from './run.ts'

const headings: Record<Result['standing'], string> = {
  specified: 'What the specification says',
  decided: 'What it leaves open, as this service decided (another may decide otherwise)',
}
const marks: Record<Result['outcome'], string> = {
  passed: '✓ passed',
  failed: '✗ FAILED',
  'not run': '- not run',
  'not visible': '- not visible',
}

/** The number of rows by outcome. */
export function count(results: Result[]): Record<Result['outcome'], number> {
  const counts = { passed: 0, failed: 0, 'not run': 0, 'not visible': 0 }
  for (const { outcome } of results) counts[outcome]++
  return counts
}

const summary = (results: Result[]) =>
  `${results.length} rows: ${Object.entries(count(results))
    .map(([outcome, n]) => `${n} ${outcome}`)
    .join(', ')}`

/** The conformance table as text: each row with its sentence, and the reason when it did not pass. */
export function table(results: Result[]): string {
  const lines: string[] = []
  const width = Math.max(...results.map(({ id }) => id.length))
  for (const standing of ['specified', 'decided'] as const) {
    const part = results.filter((result) => result.standing === standing)
    lines.push(headings[standing], '')
    for (const { id, sentence, outcome, reason } of part) {
      lines.push(`${marks[outcome].padEnd(13)}  ${id.padEnd(width)}  ${sentence}`)
      if (reason) lines.push(`${' '.repeat(13)}  ${' '.repeat(width)}  → ${reason}`)
    }
    lines.push('', `${standing}: ${summary(part)}`, '')
  }
  return lines.join('\n')
}
