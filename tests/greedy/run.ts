import { setTimeout as pause } from 'node:timers/promises'
import { machineTime } from '@lockstep/testing/load/measure'
import type { Outcomes } from './attacks.ts'
import type { AttackEnvironment, ServiceOptions } from './environment.ts'
import { evaluate, type Observation, type Sample, type Verdict } from './judge.ts'
import type { Prepared } from './prepare.ts'
import type { Scenario } from './scenarios.ts'

export interface Pace {
  size: 'full' | 'small'
  /** Duration of an attack, and of the pause before it. */
  attackMs: number
  calmMs: number
  /** Rounds attack the services alternately. If times are too long, more rounds distinguish noise from a defect. */
  minRounds: number
  maxRounds: number
  /** Rounds in which the host steals more than this share of the CPU are repeated. */
  maxStolen?: number
  /** If set, all scenarios share the same processes; otherwise each gets new ones with its own settings. */
  shared?: ServiceOptions
}

export interface Result {
  scenario: Scenario
  prepared: Pick<Prepared, 'made' | 'rejected'>
  /** The responses to the attacker. */
  outcomes: Outcomes
  observation: Observation
  rounds: number
  /** Rounds that were repeated because the host stole too much CPU. */
  disturbed: number
  verdict: Verdict
}

const MAX_DISTURBED = 6

/** Measures the share of CPU time that the host steals from now on. */
function stolenSince(): () => number {
  const before = machineTime()
  return () => {
    const after = machineTime()
    return (after.steal - before.steal) / Math.max(1, after.all - before.all)
  }
}

/** Runs one scenario, and evaluates all of its rounds together. */
export async function runScenario(
  environment: AttackEnvironment,
  scenario: Scenario,
  pace: Pace,
  hasQuotas: boolean,
): Promise<Result> {
  const { prepare, amount } = scenario[pace.size] ?? scenario.full
  const { shared, minRounds, maxRounds } = pace
  await environment.start(shared ?? optionsOf(scenario), { isFresh: !shared })
  const began = performance.now()
  // Prepared data is shared between scenarios; an account without data belongs to one scenario, with its own limits.
  const prepared = await environment.prepare(prepare ?? {}, prepare ? '' : scenario.name)
  const outcomes: Outcomes = {}
  const observation: Observation = {
    attacked: [],
    control: [],
    ended: [],
    peakBytes: 0,
    limitBytes: environment.limitBytes,
  }
  let disturbed = 0
  for (let round = 0; ; round++) {
    const nth = round % prepared.length
    const { target } = prepared[nth] as Prepared
    await pause(pace.calmMs)
    await environment.settle()
    await environment.bystanders.run({ do: 'begin' })
    const order = { name: scenario.attack, target, amount, ms: pace.attackMs }
    const stolen = stolenSince()
    const got = (await environment.attacker.run(order)) as Outcomes
    const samples = (await environment.bystanders.run({ do: 'finish' })) as Sample[][]
    // The host stole CPU time, so the times are not used. Memory still counts, and so does a round with a failure.
    const hasFailed = environment.ended().length > 0 || samples[nth]?.some(({ failure }) => failure !== undefined)
    if (pace.maxStolen !== undefined && stolen() > pace.maxStolen && disturbed < MAX_DISTURBED && !hasFailed) {
      disturbed++
      round--
      continue
    }
    for (const [outcome, count] of Object.entries(got)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count
    observation.attacked.push(...(samples[nth] ?? []))
    observation.control.push(...(samples[1 - nth] ?? []))
    observation.ended = environment.ended()
    observation.peakBytes = environment.peakBytes
    const { quota } = scenario
    if (quota && hasQuotas && observation.ended.length === 0) {
      const bytes = await environment.query(nth, quota.query, [target.board])
      observation.stored = { what: quota.what, bytes, limitBytes: quota.limitBytes(performance.now() - began) }
    }
    const verdict = evaluate(observation)
    const { unusable, failures, slow } = verdict
    const isFinal = unusable.length > 0 || failures.length > 0 || slow.length === 0
    const rounds = round + 1
    if (rounds >= maxRounds || observation.ended.length > 0 || (rounds >= minRounds && isFinal)) {
      const { made, rejected } = prepared[0] as Prepared
      return { scenario, prepared: { made, rejected }, outcomes, observation, rounds, disturbed, verdict }
    }
  }
}

const optionsOf = ({ settings = {}, instances = 1 }: Scenario): ServiceOptions => ({ settings, instances })
