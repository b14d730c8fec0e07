import { endProcesses } from '../../packages/server/testing/processes.ts'
import { type Pace, type Result, runScenario } from '../greedy/run.ts'
import { type Scenario, scenarios } from '../greedy/scenarios.ts'
import { Stage } from '../greedy/stage.ts'
import type { Progress, Report, Section } from './report.ts'

const MEBIBYTE = 2 ** 20
const LIMIT_BYTES = 1_024 * MEBIBYTE
const PACE: Pace = { size: 'full', attackMs: 8_000, calmMs: 1_000, minRounds: 2, maxRounds: 6, maxStolen: 0.1 }

/** One greedy account or address against a bystander: with the quotas of production, and with none. */
export async function prove(progress: Progress): Promise<Report> {
  const sections: Section[] = []
  const violations: string[] = []
  for (const quotas of ['on', 'off'] as const) {
    const results = await runAll({ quotas }, progress)
    violations.push(
      ...results.flatMap((result) =>
        [...unusableOf(result), ...findingsOf(result)].map((line) => `Quotas ${quotas}, ${line}`),
      ),
    )
    sections.push(...sectionsOf(quotas, results))
  }
  return { title: 'One greedy account or address beside a bystander', setting, sections, violations }
}

/** `ONLY` names the scenarios to run, with commas. */
const chosen: Scenario[] = scenarios.filter(({ name }) => process.env['ONLY']?.split(',').includes(name) ?? true)

export const setting = {
  memory_limit_MiB: LIMIT_BYTES / MEBIBYTE,
  attack_ms: PACE.attackMs,
  rounds: `${PACE.minRounds} to ${PACE.maxRounds}`,
  repeated_above_stolen_time: '10 %',
}

export async function runAll(
  { quotas, main }: { quotas: 'on' | 'off'; main?: string },
  progress: Progress,
): Promise<Result[]> {
  const stage = await Stage.open({ main, settings: { QUOTAS: quotas }, limitBytes: LIMIT_BYTES })
  const results: Result[] = []
  try {
    for (const scenario of chosen) {
      progress(`quotas ${quotas}: ${scenario.title}`)
      const result = await runScenario(stage, scenario, PACE, quotas === 'on')
      results.push(result)
      const rounds = `${result.rounds} rounds, ${result.disturbed} repeated`
      progress(`  ${timesOf(result)}; ${peakOf(result)} MiB; ${outcomesOf(result)}; ${preparedOf(result)}; ${rounds}`)
      for (const line of unusableOf(result)) progress(`  ? ${line}`)
      for (const line of findingsOf(result)) progress(`  ✗ ${line}`)
    }
    return results
  } finally {
    await stage.close()
    await endProcesses()
  }
}

export const findingsOf = ({ scenario, verdict }: Result) =>
  [...verdict.failures, ...verdict.slow].map((line) => `${scenario.name}: ${line}`)

export const unusableOf = ({ scenario, verdict }: Result) =>
  verdict.unusable.map((line) => `${scenario.name} cannot be judged: ${line}`)

export function sectionsOf(quotas: string, results: Result[]): Section[] {
  return [
    {
      heading: `Quotas ${quotas}: what is sent, and what comes of it`,
      text: 'What could be stored before a quota refused more; what the attacker was answered; the most memory that a process of the service had.',
      table: {
        columns: ['scenario', 'what is sent', 'stored', 'answers', 'peak, MiB', 'held'],
        rows: results.map((result) => [
          result.scenario.name,
          result.scenario.title,
          preparedOf(result),
          outcomesOf(result),
          peakOf(result),
          unusableOf(result).length > 0 ? 'cannot be judged' : findingsOf(result).length === 0 ? 'yes' : 'no',
        ]),
      },
    },
    {
      heading: `Quotas ${quotas}: p95 of the bystander, and of the control`,
      text: 'Milliseconds at the attacked service / at the equal service that is not attacked, in the same moments. At most twice as much, or 30 ms more.',
      table: {
        columns: [
          'scenario',
          'rounds',
          'repeated',
          'actions',
          'failed',
          ...(results[0]?.verdict.times ?? []).map(({ kind }) => kind),
        ],
        rows: results.map(({ scenario, verdict, rounds, disturbed, observation: { attacked } }) => [
          scenario.name,
          rounds,
          disturbed,
          attacked.length,
          attacked.filter(({ failure }) => failure !== undefined).length,
          ...verdict.times.map(({ attackedP95, controlP95 }) => `${attackedP95.toFixed(0)} / ${controlP95.toFixed(0)}`),
        ]),
      },
    },
  ]
}

const peakOf = ({ observation }: Result) => Math.round(observation.peakBytes / MEBIBYTE)

const outcomesOf = ({ outcomes }: Result) =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ') || 'none in time'

function preparedOf({ prepared: { made, refused }, observation: { stored } }: Result): string {
  const counts = Object.entries(made).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []))
  const end = refused === undefined ? [] : [`then ${refused}`]
  const sum = stored ? [`${stored.what} ${Math.round(stored.bytes / MEBIBYTE)} MiB`] : []
  return [...counts, ...end, ...sum].join(', ')
}

const timesOf = ({ verdict }: Result) =>
  verdict.times
    .map(({ kind, attackedP95, controlP95 }) => `${kind} ${attackedP95.toFixed(0)}/${controlP95.toFixed(0)} ms`)
    .join(', ')
