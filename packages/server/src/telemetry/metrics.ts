import { readFileSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { definitions, type Labels } from './metric-definitions.ts'

type Definitions = typeof definitions
/** What each label may say: one of a list, or a text whose values the code bounds. */
type LabelValues<L extends Labels> = { [K in keyof L]: L[K] extends readonly (infer V extends string)[] ? V : string }

export interface CounterMeter<L extends Labels> {
  inc: (labels: LabelValues<L>, by?: number) => void
  /** For what is counted elsewhere, without a call for each: the whole count so far. */
  total: (labels: LabelValues<L>, value: number) => void
}
export interface GaugeMeter<L extends Labels> {
  set: (labels: LabelValues<L>, value: number) => void
}
export interface HistogramMeter<L extends Labels> {
  observe: (labels: LabelValues<L>, value: number) => void
}
type MeterOf<D> = D extends { kind: 'counter'; labels: infer L extends Labels }
  ? CounterMeter<L>
  : D extends { kind: 'gauge'; labels: infer L extends Labels }
    ? GaugeMeter<L>
    : D extends { kind: 'histogram'; labels: infer L extends Labels }
      ? HistogramMeter<L>
      : never
/** Every metric of the service under its own name. */
export type Meters = { [N in keyof Definitions]: MeterOf<Definitions[N]> }

const silent = { inc: () => {}, total: () => {}, set: () => {}, observe: () => {} }

/**
 * The metrics of one instance of the service. When nobody can ask for them nothing is counted. What is a state and no
 * event, such as how many wait, is looked at when somebody asks.
 */
export class Metrics {
  readonly meters: Meters
  readonly isOn: boolean
  private readonly registry = new Registry()
  private readonly looks: (() => void)[] = []

  constructor(isOn: boolean) {
    this.isOn = isOn
    const made = Object.entries(definitions).map(([name, definition]) => [
      name,
      isOn ? makeMeter(name, definition, this.registry) : silent,
    ])
    // Each is made from its definition: the compiler cannot follow that through the entries of an object.
    this.meters = Object.fromEntries(made) as Meters
    this.meters.lockstep_build_info.set({ version: VERSION }, 1)
  }

  /** Looks at something each time somebody asks. */
  onScrape(work: () => void) {
    this.looks.push(work)
  }

  /** Everything, as Prometheus reads it. */
  async text(): Promise<string> {
    for (const look of this.looks) look()
    const parts = await Promise.all([this.registry.metrics(), processMetrics().metrics()])
    return parts.join('\n')
  }

  get type(): string {
    return this.registry.contentType
  }
}

function makeMeter(name: string, definition: Definitions[keyof Definitions], registry: Registry) {
  const { kind, help } = definition
  const labels: Labels = definition.labels
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] }
  if (kind === 'gauge') return new Gauge(options)
  // A count that is not there cannot be told from one that was never looked at: it begins at zero.
  if (kind === 'histogram') {
    const spread = new Histogram({ ...options, buckets: [...definition.buckets] })
    for (const said of combinations(labels)) spread.zero(said)
    return spread
  }
  const counter = new Counter(options)
  for (const said of combinations(labels)) counter.inc(said, 0)
  return {
    inc: (said: Record<string, string>, by?: number) => counter.inc(said, by),
    total: (said: Record<string, string>, value: number) => {
      counter.remove(said)
      counter.inc(said, value)
    },
  }
}

/** Everything that labels can say whose values are all listed. */
function combinations(labels: Labels): Record<string, string>[] {
  let all: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return []
    all = all.flatMap((said) => values.map((value) => ({ ...said, [label]: value })))
  }
  return all
}

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** What the library counts of its own accord but names against the conventions. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
]
let ofProcess: Registry | undefined
/** Memory, processor, event loop and garbage: one set for the process, however many services a test runs in it. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess, eventLoopUtilizationTimeout: 1_000 })
  for (const name of misnamed) ofProcess.removeSingleMetric(name)
  return ofProcess
}
