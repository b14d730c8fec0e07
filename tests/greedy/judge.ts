import { percentileOfSorted } from '@lockstep/testing/statistics'

/** The actions of a bystander: a read, a write, the event of that write on a socket, a login, and a new socket. */
export const KINDS = ['read', 'write', 'event', 'login', 'connect'] as const
export type Kind = (typeof KINDS)[number]

/** One action of a bystander. Its time starts when it was due, so that a stall affects everything due in it. */
export interface Sample {
  kind: Kind
  ms: number
  failure?: string
}

/** Measurements of the attacked service, and of an equal service at the same time, whose bystander is the control. */
export interface Observation {
  attacked: Sample[]
  control: Sample[]
  /** How processes of the service ended, if any. */
  ended: string[]
  peakBytes: number
  limitBytes: number
  /** The data that the attacker stored, and its quota. */
  stored?: { what: string; bytes: number; limitBytes: number }
}

export interface KindTimes {
  kind: Kind
  attackedP95: number
  controlP95: number
  allowedP95: number
  samples: number
}

export interface Verdict {
  times: KindTimes[]
  /** Why the run cannot be evaluated: its control failed, or there is nothing to compare. */
  unusable: string[]
  /** Failures that more measurements cannot fix. */
  failures: string[]
  /** Times above the bound. More samples distinguish noise from a defect. */
  slow: string[]
}

const FACTOR = 2
const EXTRA_MS = 30
const SHOWN = 3

export const allowed = (controlMs: number) => Math.max(FACTOR * controlMs, controlMs + EXTRA_MS)

/** Evaluates one scenario: processes, memory, failures and p95 of the bystander, and stored bytes. */
export function evaluate({ attacked, control, ended, peakBytes, limitBytes, stored }: Observation): Verdict {
  const times = KINDS.map((kind) => timesOf(kind, attacked, control))
  const failures = [
    ...ended,
    ...(peakBytes > limitBytes ? [`memory reached ${mebibytes(peakBytes)} of ${mebibytes(limitBytes)} MiB`] : []),
    ...failuresOf('the bystander', attacked),
    ...(stored && stored.bytes > stored.limitBytes
      ? [`${stored.what}: ${mebibytes(stored.bytes)} MiB are stored, ${mebibytes(stored.limitBytes)} are allowed`]
      : []),
  ]
  const unusable = [
    ...failuresOf('the control', control),
    ...times.filter(({ samples }) => samples === 0).map(({ kind }) => `there is no sample of ${kind}`),
  ]
  const slow = times
    .filter(({ attackedP95, allowedP95 }) => attackedP95 > allowedP95)
    .map(
      ({ kind, attackedP95, controlP95 }) =>
        `p95 of ${kind} is ${attackedP95.toFixed(0)} ms, ${controlP95.toFixed(0)} ms in the control`,
    )
  return { times, unusable, failures, slow }
}

function timesOf(kind: Kind, attacked: Sample[], control: Sample[]): KindTimes {
  const sorted = (samples: Sample[]) =>
    samples
      .filter((sample) => sample.kind === kind)
      .map(({ ms }) => ms)
      .toSorted((a, b) => a - b)
  const [under, beside] = [sorted(attacked), sorted(control)]
  const controlP95 = percentileOfSorted(beside, 95)
  return {
    kind,
    attackedP95: percentileOfSorted(under, 95),
    controlP95,
    allowedP95: allowed(controlP95),
    samples: Math.min(under.length, beside.length),
  }
}

function failuresOf(whose: string, samples: Sample[]): string[] {
  const failed = samples.filter(({ failure }) => failure !== undefined)
  if (failed.length === 0) return []
  const kinds = [...new Set(failed.map(({ kind, failure }) => `${kind}: ${failure}`))]
  const more = kinds.length > SHOWN ? `, and ${kinds.length - SHOWN} other kinds` : ''
  return [
    `${failed.length} of ${samples.length} actions of ${whose} failed (${kinds.slice(0, SHOWN).join('; ')}${more})`,
  ]
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
