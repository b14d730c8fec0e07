import { CONTROL, scenarios } from '../greedy/attacks.ts'
import { judge, judgeRuns, missesOf, type Run, type Verdict, worstOf } from '../greedy/judge.ts'
import { AttackEnvironment, type Pace } from '../greedy/run.ts'
import { type Figure, info, type Progress, type Report } from './report.ts'

const PACE: Pace = { starts: 3, attackMs: 12_000, warmUpMs: 3_000, calmMs: 1_500 }
const MIN_SAMPLES = 40

/** `ONLY` names the scenarios to run, with commas. */
const chosen = scenarios.filter(({ name }) => process.env['ONLY']?.split(',').includes(name) ?? true)

/** One greedy account or address after the other, beside a bystander. */
export async function prove(progress: Progress): Promise<Report> {
  progress('storing data')
  const environment = await AttackEnvironment.open(chosen, 1)
  try {
    const control = await environment.run(CONTROL, PACE)
    const undisturbed = judge(control, control, MIN_SAMPLES)
    if (missesOf(undisturbed).length > 0) throw new Error(`The control fails: ${missesOf(undisturbed).join(', ')}`)
    progress(`control: ${timesOf(undisturbed)}; ${undisturbed.peakMebibytes} MiB`)
    const figures: Figure[] = [
      { what: 'control: p50 / p95 of each class', value: timesOf(undisturbed), unit: 'ms' },
      info('samples of the bystander in the control', control.samples.length),
    ]
    const [violations, missedTimes]: [string[], string[]] = [[], []]
    for (const scenario of chosen) {
      progress(`${scenario.name}: ${scenario.title}`)
      const { verdicts, missed } = await judgeRuns(async () => {
        const run = await environment.run(scenario, PACE)
        const verdict = judge(run, control, MIN_SAMPLES)
        progress(`  ${timesOf(verdict)}; ${verdict.peakMebibytes} MiB; ${outcomesOf(run)}`)
        for (const line of missesOf(verdict)) progress(`  ✗ ${line}`)
        return verdict
      })
      figures.push(figureOf(scenario.title, verdicts, missed))
      const lines = verdicts.flatMap(missesOf).map((line) => `${scenario.name}: ${line}`)
      if (missed > 1) violations.push(...lines)
      else missedTimes.push(...lines)
    }
    return { figures, violations, missedTimes }
  } finally {
    await environment.close()
  }
}

/** The class that is closest to its bound, in the last run. */
function figureOf(title: string, verdicts: Verdict[], missed: number): Figure {
  const last = verdicts.at(-1) as Verdict
  const { kind, p50, p95, controlP50, controlP95, allowedMs } = worstOf(last)
  const times = `${kind} ${ms(p50)} / ${ms(p95)} ms (control ${ms(controlP50)} / ${ms(controlP95)})`
  const rest = `${last.failedActions} failures, ${last.peakMebibytes} MiB, missed in ${missed} of ${verdicts.length} runs`
  return {
    what: title,
    value: `${times}, ${rest}`,
    bound: `p95 ≤ ${ms(allowedMs)} ms, 0 failures, < 1,024 MiB`,
    met: missed < 2,
  }
}

const ms = (time: number) => time.toFixed(0)
const timesOf = ({ times }: Verdict) => times.map(({ kind, p50, p95 }) => `${kind} ${ms(p50)}/${ms(p95)}`).join(', ')
const outcomesOf = ({ outcomes }: Run) =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ')
