import { endProcesses } from '@lockstep/testing/processes'
import { AttackEnvironment } from '../greedy/environment.ts'
import { type Pace, type Result, runScenario } from '../greedy/run.ts'
import { type Scenario, scenarios } from '../greedy/scenarios.ts'
import { equals, type Figure, info, type Progress, type Report } from './report.ts'

const MEBIBYTE = 2 ** 20
const LIMIT_BYTES = 1_024 * MEBIBYTE
const PACE: Pace = { size: 'full', attackMs: 8_000, calmMs: 1_000, minRounds: 2, maxRounds: 6, maxStolen: 0.1 }

/** One greedy account or address against a bystander: with the quotas of production, and without quotas. */
export async function prove(progress: Progress): Promise<Report> {
  const figures: Figure[] = []
  const violations: string[] = []
  for (const quotas of ['on', 'off'] as const) {
    const results = await runAll({ quotas }, progress)
    violations.push(
      ...results.flatMap((result) =>
        [...unusableOf(result), ...findingsOf(result)].map((line) => `quotas ${quotas}, ${line}`),
      ),
    )
    figures.push(...figuresOf(quotas, results))
  }
  return { figures, violations }
}

/** `ONLY` names the scenarios to run, with commas. */
const chosen: Scenario[] = scenarios.filter(({ name }) => process.env['ONLY']?.split(',').includes(name) ?? true)

export async function runAll(
  { quotas, main }: { quotas: 'on' | 'off'; main?: string },
  progress: Progress,
): Promise<Result[]> {
  const environment = await AttackEnvironment.open({ main, settings: { QUOTAS: quotas }, limitBytes: LIMIT_BYTES })
  const results: Result[] = []
  try {
    for (const scenario of chosen) {
      progress(`quotas ${quotas}: ${scenario.title}`)
      const result = await runScenario(environment, scenario, PACE, quotas === 'on')
      results.push(result)
      const rounds = `${result.rounds} rounds, ${result.disturbed} repeated`
      progress(`  ${timesOf(result)}; ${peakOf(result)} MiB; ${outcomesOf(result)}; ${preparedOf(result)}; ${rounds}`)
      for (const line of unusableOf(result)) progress(`  ? ${line}`)
      for (const line of findingsOf(result)) progress(`  ✗ ${line}`)
    }
    return results
  } finally {
    await environment.close()
    await endProcesses()
  }
}

export const findingsOf = ({ scenario, verdict }: Result) =>
  [...verdict.failures, ...verdict.slow].map((line) => `${scenario.name}: ${line}`)

export const unusableOf = ({ scenario, verdict }: Result) =>
  verdict.unusable.map((line) => `${scenario.name} cannot be judged: ${line}`)

/** Over all scenarios, and the slowest action of the bystander in each. */
function figuresOf(quotas: string, results: Result[]): Figure[] {
  const all = (what: string) => `quotas ${quotas}: ${what}`
  const actions = results.flatMap(({ observation }) => observation.attacked)
  const rounds = results.reduce((sum, result) => sum + result.rounds, 0)
  return [
    info(all('scenarios'), results.length),
    info(all('rounds'), rounds),
    info(all('actions of the bystander'), actions.length),
    equals(all('failed actions'), actions.filter(({ failure }) => failure !== undefined).length, 0),
    equals(all('scenarios that broke a bound'), results.filter((result) => findingsOf(result).length > 0).length, 0),
    equals(all('scenarios that cannot be judged'), results.filter((result) => unusableOf(result).length > 0).length, 0),
    info(all('resident memory, most'), Math.max(...results.map(peakOf)), 'MiB'),
    ...results.map(slowestOf).map(({ name, kind, attackedP95, controlP95 }) => ({
      what: all(`${name}: p95 of the slowest action (${kind}), attacked / not attacked`),
      value: `${attackedP95.toFixed(0)} / ${controlP95.toFixed(0)}`,
      unit: 'ms',
    })),
  ]
}

function slowestOf({ scenario, verdict }: Result) {
  const [first, ...rest] = verdict.times
  if (!first) throw new Error(`${scenario.name} has no times`)
  const excess = ({ attackedP95, controlP95 }: typeof first) => attackedP95 - controlP95
  return { name: scenario.name, ...rest.reduce((worst, each) => (excess(each) > excess(worst) ? each : worst), first) }
}

const peakOf = ({ observation }: Result) => Math.round(observation.peakBytes / MEBIBYTE)

const outcomesOf = ({ outcomes }: Result) =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ') || 'none in time'

function preparedOf({ prepared: { made, rejected }, observation: { stored } }: Result): string {
  const counts = Object.entries(made).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []))
  const end = rejected === undefined ? [] : [`then ${rejected}`]
  const sum = stored ? [`${stored.what} ${Math.round(stored.bytes / MEBIBYTE)} MiB`] : []
  return [...counts, ...end, ...sum].join(', ')
}

const timesOf = ({ verdict }: Result) =>
  verdict.times
    .map(({ kind, attackedP95, controlP95 }) => `${kind} ${attackedP95.toFixed(0)}/${controlP95.toFixed(0)} ms`)
    .join(', ')
