import { percentileOfSorted } from '@lockstep/testing/statistics'
import type { Outcomes } from './attacks.ts'

/** The classes of requests of a bystander. An `event` is a change and the delivery of its event on a socket. */
export const KINDS = [
  ...(['me', 'list', 'card', 'board', 'search', 'inbox', 'history', 'comments'] as const),
  ...(['upload', 'download', 'create', 'move', 'connect', 'event', 'login'] as const),
]
export type Kind = (typeof KINDS)[number]

/** One action of a bystander. Its time starts when it was due: `at` milliseconds after the start of the attack. */
export interface Sample {
  kind: Kind
  at: number
  ms: number
  failure?: string
}

/** The samples of all starts of one attack, or of the control: the same without an attack. */
export interface Run {
  samples: Sample[]
  /** The most resident memory of the service. */
  peakBytes: number
  hasEnded: boolean
  /** What the attackers got. */
  outcomes: Outcomes
  /** Attacks that had no effect, for example because every request was rejected. */
  idle: string[]
}

export interface KindTimes {
  kind: Kind
  p50: number
  /** The greater of the p95 of all samples and of those of the first eight seconds. */
  p95: number
  controlP50: number
  controlP95: number
  allowedMs: number
}

export interface Verdict {
  times: KindTimes[]
  failedActions: number
  peakMebibytes: number
  /** Why the run misses a bound: first everything that does not depend on the speed of the machine, then times. */
  failures: string[]
  slow: string[]
}

const FACTOR = 5
const ALWAYS_ALLOWED_MS = 250
const FIRST_MS = 8_000
const MAX_MEBIBYTES = 1_024
const MAX_RUNS = 3

/** Compares one run with the bounds. A class of which fewer samples were due in the first eight seconds cannot be judged. */
export function judge(run: Run, control: Run, minSamples: number): Verdict {
  const early = run.samples.filter(({ at }) => at < FIRST_MS)
  const counts = Map.groupBy(early, ({ kind }) => kind)
  const missing = KINDS.filter((kind) => (counts.get(kind)?.length ?? 0) < minSamples)
  const failed = run.samples.flatMap(({ kind, failure }) => (failure === undefined ? [] : [`${kind}: ${failure}`]))
  const peakMebibytes = Math.round(run.peakBytes / 2 ** 20)
  const times = KINDS.map((kind) => timesOf(kind, run.samples, early, control.samples))
  return {
    times,
    failedActions: failed.length,
    peakMebibytes,
    failures: [
      ...(run.hasEnded ? ['the process ended'] : []),
      ...(peakMebibytes >= MAX_MEBIBYTES ? [`memory reached ${peakMebibytes} MiB`] : []),
      ...(failed.length > 0
        ? [`${failed.length} actions failed (${[...new Set(failed)].slice(0, 3).join('; ')})`]
        : []),
      ...run.idle.map((name) => `the attack ${name} had no effect`),
      ...missing.map((kind) => `there are fewer than ${minSamples} samples of ${kind}`),
    ],
    slow: times
      .filter(({ p95, allowedMs }) => p95 > allowedMs)
      .map(({ kind, p95, allowedMs }) => `p95 of ${kind} is ${p95.toFixed(0)} ms, ${allowedMs.toFixed(0)} are allowed`),
  }
}

function timesOf(kind: Kind, all: Sample[], early: Sample[], control: Sample[]): KindTimes {
  const [times, first, undisturbed] = [all, early, control].map((samples) =>
    samples.flatMap((sample) => (sample.kind === kind ? [sample.ms] : [])).toSorted((a, b) => a - b),
  ) as [number[], number[], number[]]
  const controlP95 = percentileOfSorted(undisturbed, 95)
  return {
    kind,
    p50: percentileOfSorted(times, 50),
    p95: Math.max(percentileOfSorted(times, 95), percentileOfSorted(first, 95)),
    controlP50: percentileOfSorted(undisturbed, 50),
    controlP95,
    allowedMs: Math.max(FACTOR * controlP95, ALWAYS_ALLOWED_MS),
  }
}

/** The class that is closest to its bound, or furthest above it. */
export const worstOf = ({ times }: Verdict): KindTimes =>
  times.reduce((worst, each) => (each.p95 / each.allowedMs > worst.p95 / worst.allowedMs ? each : worst))

export const missesOf = ({ failures, slow }: Verdict) => [...failures, ...slow]

/** Missed means missed in two of three runs: after a run that misses a bound there are up to two more. */
export async function judgeRuns(run: () => Promise<Verdict>): Promise<{ verdicts: Verdict[]; missed: number }> {
  const verdicts: Verdict[] = []
  const missed = () => verdicts.filter((verdict) => missesOf(verdict).length > 0).length
  do verdicts.push(await run())
  while (missed() === 1 && verdicts.length < MAX_RUNS)
  return { verdicts, missed: missed() }
}
